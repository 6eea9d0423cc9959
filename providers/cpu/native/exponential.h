// e^x, 2^x and e^x - 1.
#pragma once

#include "double_word.h"

// e^x as value * 2^exponent, so that the caller multiplies before anything underflows.
template <class T>
struct Scaled {
    T value, exponent;
};

template <class T>
struct Reduced {
    T r, n;
};

// x = n ln 2 + r; x is given in two parts.
template <class T>
EP_INLINE Reduced<T> reduce(T high, T low) {
    using F = Float<T>;
    const T n = nearest_integer((high + low) * static_cast<T>(1.4426950408889634));
    return {(fused(-n, F::ln2_high, high) - n * F::ln2_low) + low, n};
}

template <class T>
EP_INLINE Scaled<T> exponential_scaled(T high, T low) {
    const Reduced<T> x = reduce(high, low);
    return {T{1} + fused(x.r * x.r, Float<T>::exp_tail(x.r, Horner{}), x.r), x.n};
}

template <class T>
EP_INLINE T exponential(T x) {
    using F = Float<T>;
    const Scaled<T> e = exponential_scaled(at_least(at_most(x, F::exp_high), F::exp_low), T{0});
    return scale(e.value, e.exponent);
}

// 2^x, exact for integers.
template <class T>
EP_INLINE Scaled<T> exponential2_scaled(T x) {
    const T n = nearest_integer(x), r = (x - n) * static_cast<T>(0.69314718055994531);
    return {T{1} + fused(r * r, Float<T>::exp_tail(r, Horner{}), r), n};
}

template <class T>
EP_INLINE T exponential2(T x) {
    using F = Float<T>;
    const Scaled<T> e = exponential2_scaled(at_least(at_most(x, F::exp2_high), F::exp2_low));
    return scale(e.value, e.exponent);
}

// (e^x - 1) / 4 as far as e^x / 4 is finite; what is below expm1_low is -1/4 and must be cut off there. e^r - 1 has two
// words, because it is doubled before 1 is taken away.
template <class T>
EP_INLINE T quarter_exponential_minus_one(T x) {
    using F = Float<T>;
    const T n = nearest_integer(x * static_cast<T>(1.4426950408889634));
    const DoubleWord<T> r = two_sum(fused(-n, F::ln2_high, x), -n * F::ln2_low);
    const T low = fused(r.high, r.low, r.low);
    const DoubleWord<T> small = fast_two_sum(r.high, fused(r.high * r.high, F::exp_tail(r.high, Horner{}), low));
    const T factor = power_of_two(n - T{2});
    return fused(small.low, factor, fused(small.high, factor, factor - T(0.25)));
}

template <class T>
EP_INLINE T exponential_minus_one(T x) {
    using F = Float<T>;
    const T value = T{4} * quarter_exponential_minus_one(at_least(at_most(x, F::exp_high), F::expm1_low));
    return absolute_of(x) < F::linear ? x : value;
}
