// e^x, 2^x and e^x - 1.
#pragma once

#include "double_word.h"

template <class T>
struct Scaled;
template <class T>
struct Reduced;
template <class T>
struct Shifted;
#define EP_SHARED "mathematics/exponential.inc"
#include "shared/each.h"

EP_INLINE float Exponential<float>::tail(float r) {
    return exponential_tail(r);
}
EP_INLINE double Exponential<double>::tail(double r) {
    return exponential_tail(r);
}
