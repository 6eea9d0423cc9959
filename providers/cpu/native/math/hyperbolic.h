// Hyperbolic functions and their inverses.
#pragma once

#include "exponential.h"
#include "logarithm.h"

// Beyond these sinh and cosh are infinite, and tanh is 1.
template <class T>
constexpr T SINH_HIGH = std::is_same_v<T, float> ? T(89.5) : T(710.5);
template <class T>
constexpr T TANH_HIGH = std::is_same_v<T, float> ? T(10) : T(20);

// From t = (e^a - 1) / 4 with a = |x|: sinh = 2 (t + t / (4 t + 1)); doubled last, so that it overflows where it
// should.
template <class T>
EP_INLINE T hyperbolic_sine(T x) {
    const T a = at_most(absolute_of(x), SINH_HIGH<T>);
    const T t = quarter_exponential_minus_one(a), value = T{2} * (t + t / (T{4} * t + T{1}));
    return a < Float<T>::linear ? x : with_sign_of(value, x);
}

template <class T>
EP_INLINE T hyperbolic_cosine(T x) {
    const Scaled<T> e = exponential_scaled(at_most(absolute_of(x), SINH_HIGH<T>), T{0});
    const T quarter = e.value * power_of_two(e.exponent - T{2});
    return T{2} * (quarter + T(0.0625) / quarter);
}

// t / (t + 2) with t = e^(2|x|) - 1: one formula without cancellation everywhere.
template <class T>
EP_INLINE T hyperbolic_tangent(T x) {
    const T a = at_most(absolute_of(x), TANH_HIGH<T>);
    const T t = quarter_exponential_minus_one(a + a);
    return a < Float<T>::linear ? x : with_sign_of(t / (t + T(0.5)), x);
}

// log(1 + t), or log(2 x) where x is so large that t would not do.
template <class T>
EP_INLINE T area_logarithm(T t, T x) {
    const bool is_large = x > Float<T>::square_high;
    const DoubleWord<T> u = two_sum(T{1}, t);
    return logarithm_sum(is_large ? x : u.high, is_large ? T{1} : T{0}, is_large ? T{0} : u.low / u.high);
}

template <class T>
EP_INLINE T area_sine(T x) {
    const T a = absolute_of(x), square = a * a;
    const T value = area_logarithm(a + square / (T{1} + square_root(T{1} + square)), a);
    return a < Float<T>::linear ? x : with_sign_of(value, x);
}

template <class T>
EP_INLINE T area_cosine(T x) {
    const T t = x - T{1}, value = area_logarithm(t + square_root(fused(t, t, t + t)), x);
    return x < T{1} ? std::numeric_limits<T>::quiet_NaN() : value;
}

template <class T>
EP_INLINE T area_tangent(T x) {
    const T a = absolute_of(x), value = T(0.5) * logarithm1p((a + a) / (T{1} - a));
    return a < Float<T>::linear ? x : with_sign_of(value, x);
}
