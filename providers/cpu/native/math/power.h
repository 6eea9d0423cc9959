// x^y.
#pragma once

#include "exponential.h"
#include "logarithm.h"

// log(x) in two words, to some 2^-64 of itself, for finite x > 0: 2 s + 2/3 s^3 + s^5 tail with s = f / (2 + f).
EP_INLINE DoubleWord<double> logarithm_in_two(double x) {
    using F = Float<double>;
    using Words = DoubleWord<double>;
    const Normalised<double> y = normalised(x);
    const Words under = fast_two_sum(2.0, y.f);
    const double quotient = y.f / under.high;
    const Words product = two_product(quotient, under.high);
    const double rest = ((y.f - product.high) - product.low) - quotient * under.low;
    const Words s = {quotient, rest / under.high}, z = s * s;
    const double tail =
        Horner{}(z.high, 0.11723178623876518, 0.11706236339491206, 0.1333480469384731, 0.1538459496251843,
                 0.18181818335392802, 0.22222222221655885, 0.28571428571429364, 0.4);
    const Words cubic = z * Words{0.6666666666666666, 3.700743415417188e-17};
    const Words sum = fast_two_sum(cubic.high, z.high * z.high * tail), two = fast_two_sum(2.0, sum.high);
    const Words log = s * Words{two.high, two.low + (sum.low + cubic.low)};
    const Words all = fast_two_sum(y.k * F::ln2_high, log.high);
    return fast_two_sum(all.high, all.low + fused(y.k, F::ln2_low, log.low));
}

// log(a) for a >= 0, as exactly as a power needs it: an error of it is multiplied by b log(a).
EP_INLINE DoubleWord<double> logarithm_of_base(double a) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const DoubleWord<double> log = logarithm_in_two(a);
    const double limit = a == 0 ? -infinity : a;
    const bool is_ordinary = (a > 0) & (a < infinity);
    return {is_ordinary ? log.high : limit, is_ordinary ? log.low : 0.0};
}
EP_INLINE double logarithm_of_base(float a) {
    return logarithm(static_cast<double>(a));
}

// e^(b log)
EP_INLINE double power_by(DoubleWord<double> log, double b) {
    using E = Exponential<double>;
    const double product = b * log.high;
    const bool is_inside = (product < E::high) & (product > E::low);
    const double low = is_inside ? fused(b, log.low, two_product(b, log.high).low) : 0.0;
    const Scaled<double> e = exponential_scaled(at_least(at_most(product, E::high), E::low), low);
    return scale(e.value, e.exponent);
}
EP_INLINE float power_by(double log, float b) {
    return static_cast<float>(exponential(static_cast<double>(b) * log));
}

template <class T>
EP_INLINE bool is_integral(T magnitude) {
    constexpr T limit = T{1} / std::numeric_limits<T>::epsilon();
    return (magnitude >= limit) | ((magnitude + limit) - limit == magnitude);
}

// a^b from |a|^b, with C's special values.
template <class T>
EP_INLINE T signed_power(T a, T b, T magnitude) {
    constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const T base = absolute_of(a), exponent = absolute_of(b);
    const bool is_whole = is_integral(exponent), is_even = is_integral(exponent * T(0.5));
    const bool is_illegal = (a < T{0}) & (base < infinity) & !is_whole;
    const T legal = is_illegal ? nan : magnitude;
    const T value = is_whole & !is_even ? with_sign_of(legal, a) : legal;
    const bool is_one = (b == T{0}) | (a == T{1}) | ((a == T{-1}) & (exponent == infinity));
    return is_one ? T{1} : value;
}

EP_INLINE double power(double a, double b) {
    return signed_power(a, b, power_by(logarithm_of_base(absolute_of(a)), b));
}

// The whole part of log2(a) for a >= 0, or all of it where that is infinite or NaN.
EP_INLINE float whole_logarithm(float a, float k) {
    const float ordinary = a < std::numeric_limits<float>::infinity() ? k : a;
    return a == 0.0F ? -std::numeric_limits<float>::infinity() : ordinary;
}

// 2^(n + r)
EP_INLINE float power_of_two_at(float n, float r) {
    using E = Exponential<float>;
    const bool is_left = n < 0.0F;
    const float power = power_of_two(n + (is_left ? E::spare_exponent : -E::spare_exponent));
    return exponential_times(r * 0.693147181F, power) * (is_left ? E::spare : 1.0F / E::spare);
}

// By log2(a) to some 2^-36 of itself, in double, of which |b| takes seven digits at most.
EP_INLINE float power(float a, float b) {
    using E = Exponential<float>;
    const float base = absolute_of(a);
    const Normalised<float> y = normalised(base);
    const double f = static_cast<double>(y.f), s = f / (2.0 + f), z = s * s;
    const double series = Horner{}(z, 0.340721114954929513, 0.411673299141158126, 0.577083573363693353,
                                   0.961796673415497375, 2.88539008179001352);
    const double product = static_cast<double>(b) * fused(s, series, static_cast<double>(whole_logarithm(base, y.k)));
    const double exponent = at_least(at_most(product, static_cast<double>(E::high2)), static_cast<double>(E::low2));
    const double n = nearest_integer(exponent);
    return signed_power(a, b, power_of_two_at(static_cast<float>(n), static_cast<float>(exponent - n)));
}

template <class T>
EP_INLINE T power_of_positive(T a, T b) {
    return power_by(logarithm_of_base(a), b);
}
