// The activations.
#pragma once

#include "double_word.h"
#include "error_function.h"
#include "exponential.h"
#include "logarithm.h"

#define EP_SHARED "mathematics/activation.inc"
#include "shared.h"

// For a = |x|, up to `zero`, where the result is 0: e^(-a^2/2), and Phi(-a) over it.
template <class T>
struct Gauss {
    T a, ratio;
    Scaled<T> density;
};

template <class T>
EP_INLINE Gauss<T> gauss_of(T x, T zero) {
    const T a = at_most(absolute_of(x), zero);
    return {a, T(0.5) * scaled_error_function(a * static_cast<T>(0.70710678118654752)), bell(a, T(0.5))};
}

// e^-|z|, also as value * 2^exponent, for a z in two words; it ends at logistic_zero.
template <class T>
struct Decay {
    T e;
    Scaled<T> scaled;
};

template <class T>
EP_INLINE Decay<T> decay_of(DoubleWord<T> z) {
    const T a = at_most(absolute_of(z.high), Activation<T>::logistic_zero);
    const Scaled<T> e = exponential_scaled(-a, z.high < T{0} ? z.low : -z.low);
    return {e.value * power_of_two(at_least(e.exponent, T(1 - Float<T>::bias))), e};
}

// weight sigmoid(z), where a weight that is infinite has a positive z: the product is formed before anything
// underflows.
template <class T>
EP_INLINE T weighted_sigmoid(T weight, DoubleWord<T> z) {
    const Decay<T> decay = decay_of(z);
    const bool is_left = z.high < T{0};
    const T left = z.high <= -Activation<T>::logistic_zero ? T{0} : decay.scaled.value;
    const T numerator = is_left ? left : T{1};
    return scale_far(weight * (numerator / (T{1} + decay.e)), is_left ? decay.scaled.exponent : T{0});
}
