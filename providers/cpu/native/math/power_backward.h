// The gradients of x^p: dy times a factor times a power, of which the power alone may be far out of the range.
#pragma once

#include "power.h"

// How large |log(a^b)| is taken at most: beyond, no two other factors bring the product back into the range of T.
template <class T>
constexpr double farthest = sizeof(T) == 4 ? 600.0 : 2600.0;

// x as value * 2^exponent with 1 <= |value| < 2; 0, infinity and NaN are their own value.
EP_INLINE Scaled<double> apart(double x) {
    using F = Float<double>;
    using Bits = F::Bits;
    constexpr Bits fraction = (Bits{1} << F::fraction) - 1, one = Bits{F::bias} << F::fraction;
    const double size = absolute_of(x);
    const bool is_tiny = size < F::tiny, is_ordinary = (size > 0) & (size < std::numeric_limits<double>::infinity());
    const Bits bits = bits_of(is_tiny ? size * F::tiny_scale : size);
    const double exponent =
        of_bits<double>(bits_of(F::integer_magic) - F::bias + (bits >> F::fraction)) - F::integer_magic;
    const double value = with_sign_of(of_bits<double>((bits & fraction) | one), x);
    return {is_ordinary ? value : x, is_ordinary ? exponent - (is_tiny ? F::tiny_exponent : 0.0) : 0.0};
}

// |a|^b from log|a|: finite and not 0 wherever a and b are, and with C's limits elsewhere.
template <class T>
EP_INLINE Scaled<double> power_apart(DoubleWord<double> log, DoubleWord<double> b) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double product = b.high * log.high, inside = at_least(at_most(product, farthest<T>), -farthest<T>);
    const bool is_end = (absolute_of(log.high) == infinity) | (absolute_of(b.high) == infinity);
    const bool is_exact = (sizeof(T) == 4) | (product != inside) | is_end;
    const double low =
        is_exact ? 0.0 : fused(b.low, log.high, fused(b.high, log.low, two_product(b.high, log.high).low));
    const Scaled<double> e = exponential_scaled(inside, low);
    const double end = product > 0 ? infinity : 0.0;
    return {is_end ? end : e.value, is_end | (product != product) ? 0.0 : e.exponent};
}

// dy * factor * power, rounded into the range once; float's factors meet in double, whose range is wide enough.
template <class T>
EP_INLINE T product_with_power(T dy, double factor, Scaled<double> power) {
    if constexpr (std::is_same_v<T, float>) {
        return static_cast<float>(static_cast<double>(dy) * factor * scale(power.value, power.exponent));
    } else {
        const Scaled<double> first = apart(dy), second = apart(factor);
        const double exponent = first.exponent + second.exponent + power.exponent;
        return scale_far(first.value * second.value * power.value, at_least(at_most(exponent, 2500.0), -2500.0));
    }
}

EP_INLINE DoubleWord<double> logarithm_words(double log) {
    return {log, 0.0};
}
EP_INLINE DoubleWord<double> logarithm_words(DoubleWord<double> log) {
    return log;
}

// dy times the derivative of x^p for x, p x^(p - 1). p - 1 has two words: the logarithm of a large x multiplies its
// error. Whether it is odd, or no integer, p says, from which 1 may be too little to be taken.
template <class T>
EP_INLINE T base_slope(T dy, T x, T p) {
    const double base = static_cast<double>(x), exponent = static_cast<double>(p);
    const DoubleWord<double> b = two_sum(exponent, -1.0);
    const Scaled<double> size = power_apart<T>(logarithm_words(logarithm_of_base(absolute_of(x))), b);
    const bool is_whole = is_integral(absolute_of(exponent)), is_odd = is_integral(absolute_of(exponent) * 0.5);
    const bool is_illegal = !is_whole & (base < 0) & (base > -std::numeric_limits<double>::infinity());
    const double magnitude = b.high == 0 ? 1.0 : size.value, sign = is_odd ? base : 1.0;
    const double value = is_illegal ? std::numeric_limits<double>::quiet_NaN() : with_sign_of(magnitude, sign);
    return p == T{0} ? dy * p : product_with_power(dy, exponent, {value, size.exponent});
}

// Of an attribute the logarithm is computed once, by calls that the compiler takes out of the loop.
template <bool is_low, class T>
__attribute__((noinline, const)) double attribute_logarithm(T a) {
    const DoubleWord<double> log = logarithm_words(logarithm_of_base(a));
    return is_low ? log.low : log.high;
}

// dy times the derivative of base^x for x, base^x log(base), for an attribute above 0 as the base.
template <class T>
EP_INLINE T exponent_slope(T dy, T x, T base) {
    const DoubleWord<double> log = {attribute_logarithm<false>(base), attribute_logarithm<true>(base)};
    const double b = static_cast<double>(x);
    const Scaled<double> size = power_apart<T>(log, {b, 0.0});
    const Scaled<double> power = {signed_power(static_cast<double>(base), b, size.value), size.exponent};
    return product_with_power(dy, log.high, power);
}
