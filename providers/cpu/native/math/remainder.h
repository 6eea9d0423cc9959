// Quotients and remainders of floats.
#pragma once

#include "double_word.h"

template <class T>
struct Division;
#define EP_SHARED "mathematics/remainder.inc"
#include "shared/each.h"
