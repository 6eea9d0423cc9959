// Logarithms to the bases e, 2 and 10, and of 1 + x.
#pragma once

#include "double_word.h"

template <class T>
struct Normalised;
template <class T>
struct Series;
#define EP_SHARED "mathematics/logarithm.inc"
#include "shared/each.h"
