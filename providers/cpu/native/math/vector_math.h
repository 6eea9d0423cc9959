// Vector maths: branch-free templates over float and double, which the compiler vectorises inside a loop.
// Included once per instruction set, in an anonymous namespace, after `EP_FMA` is defined as 0 or 1.
// Polynomials are Chebyshev fits made with 60 digits; README.md has the errors of the whole functions.
#pragma once

template <class T>
struct Float;

template <>
struct Float<float> {
    using Bits = uint32_t;
    static constexpr int fraction = 23, bias = 127;
    static constexpr float integer_magic = 12582912.0F;  // 1.5 * 2^23: adding it leaves an integer in the low bits
    static constexpr Bits upper_half = 0xFFFFF000U;
    static constexpr float ln2_high = 6.9314575195e-01F, ln2_low = 1.4286067653e-06F;
    static constexpr float linear = 2.9802322e-08F;  // 2^-25: an odd function of slope 1 is x up to here
    static constexpr float half_pi_high = 1.5707964F, half_pi_low = -4.371139e-08F;
    static constexpr float square_high = 1.152921504606847e18F;  // 2^60: squares up to here are finite
    static constexpr float tiny = 1.17549435e-38F, tiny_scale = 33554432.0F, tiny_exponent = 25.0F;
};

template <>
struct Float<double> {
    using Bits = uint64_t;
    static constexpr int fraction = 52, bias = 1023;
    static constexpr double integer_magic = 6755399441055744.0;  // 1.5 * 2^52
    static constexpr Bits upper_half = 0xFFFFFFFFF8000000U;
    static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
    static constexpr double linear = 5.551115123125783e-17;  // 2^-54
    static constexpr double half_pi_high = 1.57079632679489655800, half_pi_low = 6.12323399573676603587e-17;
    static constexpr double square_high = 3.273390607896142e150;  // 2^500
    static constexpr double tiny = 2.2250738585072014e-308, tiny_scale = 18014398509481984.0, tiny_exponent = 54.0;
};

template <class T>
EP_INLINE typename Float<T>::Bits bits_of(T x) {
    typename Float<T>::Bits bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

template <class T>
EP_INLINE T of_bits(typename Float<T>::Bits bits) {
    T x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

EP_INLINE float fused(float a, float b, float c) {
    return EP_FMA ? __builtin_fmaf(a, b, c) : a * b + c;
}
EP_INLINE double fused(double a, double b, double c) {
    return EP_FMA ? __builtin_fma(a, b, c) : a * b + c;
}

struct Horner {
    template <class T>
    EP_INLINE T operator()(T, T value) const {
        return value;
    }
    template <class T, class... Rest>
    EP_INLINE T operator()(T x, T value, T next, Rest... rest) const {
        return (*this)(x, fused(value, x, next), rest...);
    }
};

template <class T>
EP_INLINE T absolute_of(T x) {
    return of_bits<T>(bits_of(x) & ~(typename Float<T>::Bits{1} << (sizeof(T) * 8 - 1)));
}
template <class T>
EP_INLINE T with_sign_of(T magnitude, T sign) {
    const auto top = typename Float<T>::Bits{1} << (sizeof(T) * 8 - 1);
    return of_bits<T>((bits_of(magnitude) & ~top) | (bits_of(sign) & top));
}

EP_INLINE float square_root(float x) {
    return __builtin_sqrtf(x);
}
EP_INLINE double square_root(double x) {
    return __builtin_sqrt(x);
}

// Comparisons written so that a NaN passes through.
template <class T>
EP_INLINE T at_most(T x, T high) {
    return x > high ? high : x;
}
template <class T>
EP_INLINE T at_least(T x, T low) {
    return x < low ? low : x;
}

// The size of x, at most `high`, and `high` for a NaN: a result that has its NaN from x alone has the same one wherever
// it is computed, while of two NaN the compiler chooses.
template <class T>
EP_INLINE T size_within(T x, T high) {
    const T size = absolute_of(x);
    return size < high ? size : high;
}

template <class T>
EP_INLINE T nearest_integer(T x) {
    return (x + Float<T>::integer_magic) - Float<T>::integer_magic;
}

// 2^k for an integral k within the normal exponents.
template <class T>
EP_INLINE T power_of_two(T k) {
    return of_bits<T>(bits_of((k + Float<T>::bias) + Float<T>::integer_magic) << Float<T>::fraction);
}

// Two factors reach every denormal with one rounding.
template <class T>
EP_INLINE T scale(T value, T exponent) {
    const T half = nearest_integer(exponent * T(0.5));
    return value * power_of_two(half) * power_of_two(exponent - half);
}

// Three factors, for products that come back from far below the smallest denormal.
template <class T>
EP_INLINE T scale_far(T value, T exponent) {
    const T third = nearest_integer(exponent * static_cast<T>(1.0 / 3.0));
    return value * power_of_two(third) * power_of_two(third) * power_of_two(exponent - (third + third));
}

#include "double_word.h"
#include "exponential.h"
