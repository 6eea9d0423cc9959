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

template <class T>
EP_INLINE T power(T a, T b) {
    return signed_power(a, b, power_by(logarithm_of_base(absolute_of(a)), b));
}

template <class T>
EP_INLINE T power_of_positive(T a, T b) {
    return power_by(logarithm_of_base(a), b);
}
