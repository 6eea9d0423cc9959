// Angles of any size reduced to an eighth of a turn, by the tables of quarter_turns.h.
#pragma once

#include "double_word.h"

EP_INLINE double float_turns(int part, uint64_t line) {
    return ep::FLOAT_TURNS.part[part][line];
}
EP_INLINE double double_turns(int part, uint64_t line) {
    return ep::DOUBLE_TURNS.part[part][line];
}

template <class T>
struct Angle;
template <class T>
struct Parts;
#define EP_SHARED "mathematics/angle.inc"
#include "shared/each.h"
