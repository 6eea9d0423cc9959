// The gradients of x^p.
#pragma once

#include "power.h"

#define EP_SHARED "mathematics/power_backward.inc"
#include "shared/each.h"

// Of an attribute the logarithm is computed once, by calls that the compiler takes out of the loop.
template <bool is_low, class T>
__attribute__((noinline, const)) double attribute_logarithm(T a) {
    const DoubleWord<double> log = logarithm_words(a);
    return is_low ? log.low : log.high;
}
template <class T>
EP_INLINE T exponent_slope(T dy, T x, T base) {
    return exponent_slope(dy, x, base, {attribute_logarithm<false>(base), attribute_logarithm<true>(base)});
}
