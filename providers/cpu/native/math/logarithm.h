// Logarithms to the bases e, 2 and 10, and of 1 + x. The method and the constants are from FreeBSD's e_log.c and
// k_log.h: x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2).
#pragma once

#include "double_word.h"

template <class T>
struct Logarithm;

template <>
struct Logarithm<float> {
    static constexpr uint32_t sqrt_half = 0x3F3504F3U;
    static constexpr DoubleWord<float> inverse_2 = {1.4428710938e+00F, -1.7605285393e-04F},
                                       inverse_10 = {4.3432617188e-01F, -3.1689971365e-05F},
                                       two_to_10 = {3.0102920532e-01F, 7.9034151668e-07F};
    // (log(1 + f) - 2 s) / s^3 in z = s^2, s = f / (2 + f); coefficients of e_logf.c
    static EP_INLINE float tail(float z) {
        return Horner{}(z, 0.24279078841F, 0.28498786688F, 0.40000972152F, 0.66666662693F);
    }
};

template <>
struct Logarithm<double> {
    static constexpr uint64_t sqrt_half = 0x3FE6A09E667F3BCDU;
    static constexpr DoubleWord<double> inverse_2 = {1.44269504072144627571e+00, 1.67517131648865118353e-10},
                                        inverse_10 = {4.34294481878168880939e-01, 2.50829467116452752298e-11},
                                        two_to_10 = {3.01029995663611771306e-01, 3.69423907715893078616e-13};
    static EP_INLINE double tail(double z) {
        return Horner{}(z, 1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                        2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                        6.666666666666735130e-01);
    }
};

template <class T>
struct Normalised {
    T f, k;
};

template <class T>
EP_INLINE Normalised<T> normalised(T x) {
    using F = Float<T>;
    using Bits = typename F::Bits;
    constexpr Bits one = static_cast<Bits>(F::bias) << F::fraction;
    const bool is_tiny = x < F::tiny;
    const Bits bits = bits_of(is_tiny ? x * F::tiny_scale : x) + (one - Logarithm<T>::sqrt_half);
    const Bits magic = bits_of(F::integer_magic) - F::bias;
    const T k = of_bits<T>(magic + (bits >> F::fraction)) - F::integer_magic;
    const T f = of_bits<T>((bits & ((Bits{1} << F::fraction) - 1)) + Logarithm<T>::sqrt_half) - T{1};
    return {f, k - (is_tiny ? F::tiny_exponent : T{0})};
}

// log(1 + f) = f - (half_square - rest)
template <class T>
struct Series {
    T half_square, s, inner;
    EP_INLINE T rest() const { return s * inner; }
};

template <class T>
EP_INLINE Series<T> series_of(T f) {
    const T s = f / (T{2} + f), z = s * s, half_square = T(0.5) * f * f;
    return {half_square, s, half_square + z * Logarithm<T>::tail(z)};
}

// The results that all logarithms share: at 0, below 0, at infinity and for NaN.
template <class T>
EP_INLINE T with_limits(T value, T x) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const T ordinary = x < infinity ? value : x;
    const T legal = x < T{0} ? std::numeric_limits<T>::quiet_NaN() : ordinary;
    return x == T{0} ? -infinity : legal;
}

// log(x 2^exponent) + more, for a small `more`.
template <class T>
EP_INLINE T logarithm_sum(T x, T exponent, T more) {
    using F = Float<T>;
    const Normalised<T> y = normalised(x);
    const Series<T> log = series_of(y.f);
    const T k = y.k + exponent;
    const T value =
        fused(k, F::ln2_high, y.f - (log.half_square - fused(log.s, log.inner, fused(k, F::ln2_low, more))));
    return with_limits(value, x);
}

template <class T>
EP_INLINE T logarithm(T x) {
    return logarithm_sum(x, T{0}, T{0});
}

// log(1 + x)
template <class T>
EP_INLINE T logarithm1p(T x) {
    const DoubleWord<T> u = two_sum(T{1}, x);
    const T value = logarithm_sum(u.high, T{0}, u.low / u.high);
    return absolute_of(x) < Float<T>::linear ? x : value;
}

// log(1 + e) for 0 <= e <= 1: 2 atanh(s) with s = e / (2 + e), in z = s^2 <= 1/9; a subnormal e keeps its digits.
EP_INLINE float logarithm1p_of_share(float e) {
    const float inverse = 1.0F / (2.0F + e), s = e * inverse, z = s * s;
    return e * (inverse * Horner{}(z, 0.2815777836F, 0.2796515775F, 0.4002459523F, 0.6666632164F, 2.0F));
}
EP_INLINE double logarithm1p_of_share(double e) {
    return logarithm1p(e);
}

// log(x) / log(base), by 1 / log(base) and log(2) / log(base), each in two parts.
template <class T>
EP_INLINE T logarithm_to(DoubleWord<T> inverse, DoubleWord<T> two, T x) {
    using F = Float<T>;
    const Normalised<T> y = normalised(x);
    const Series<T> log = series_of(y.f);
    const T high = of_bits<T>(bits_of(y.f - log.half_square) & F::upper_half);
    const T low = ((y.f - high) - log.half_square) + log.rest();
    const DoubleWord<T> sum = fast_two_sum(y.k * two.high, high * inverse.high);
    const T rest = fused(low, inverse.high, fused(low + high, inverse.low, fused(y.k, two.low, sum.low)));
    return with_limits(sum.high + rest, x);
}

template <class T>
EP_INLINE T logarithm2(T x) {
    return logarithm_to<T>(Logarithm<T>::inverse_2, {T{1}, T{0}}, x);
}

template <class T>
EP_INLINE T logarithm10(T x) {
    return logarithm_to<T>(Logarithm<T>::inverse_10, Logarithm<T>::two_to_10, x);
}
