// Quotients and remainders of floats: of the exact quotient, however large.
#pragma once

#include "double_word.h"

template <class T>
constexpr T WHOLE_LIMIT = T{2} / std::numeric_limits<T>::epsilon();  // 2^53 for double: from here on all are even

// The integer part of x >= 0.
template <class T>
EP_INLINE T whole_part(T x) {
    constexpr T limit = WHOLE_LIMIT<T> / 2;
    const T near = (x + limit) - limit;
    return x < limit ? near - (near > x ? T{1} : T{0}) : x;
}

// a - whole * b, exact where `whole` is a / b rounded or cut.
template <class T>
EP_INLINE T residual(T a, T whole, T b) {
    if constexpr (EP_FMA) {
        return fused(-whole, b, a);
    } else {
        const DoubleWord<T> product = two_product(whole, b);
        return (a - product.high) - product.low;
    }
}

// a = whole * b + rest with 0 <= rest < b, for a >= 0 and b > 0. From WHOLE_LIMIT on, `whole` is a / b rounded and
// `rest` may be negative.
template <class T>
struct Division {
    T whole, rest;
};

template <class T>
EP_INLINE Division<T> divided(T a, T b) {
    // The products of the residual are not to overflow; a / b does, where b loses digits here.
    const T down = a > std::numeric_limits<T>::max() / 4 ? T(0.25) : T{1}, up = down < T{1} ? T{4} : T{1};
    const T dividend = a * down, divisor = b * down, quotient = a / b;
    const T whole = whole_part(quotient);
    const T rest = whole == T{0} ? dividend : residual(dividend, whole, divisor);
    const bool is_over = (rest < T{0}) & (quotient < WHOLE_LIMIT<T>);
    return {is_over ? whole - T{1} : whole, (is_over ? rest + divisor : rest) * up};
}

// Whether the remainder takes steps; false for NaN.
template <class T>
EP_INLINE bool has_long_quotient(T a, T b) {
    return absolute_of(a / b) >= WHOLE_LIMIT<T> / 2;
}

// Long quotients step by step: by b times powers of two, so that each quotient is short.
template <class T>
EP_INLINE T remainder_of_magnitudes(T a, T b) {
    constexpr T step = WHOLE_LIMIT<T> / 4;
    T divisor = b;
    while (a / divisor >= step && a < std::numeric_limits<T>::infinity() && b > T{0}) divisor *= step;
    T rest = divided(a, divisor).rest;
    while (divisor > b) {
        divisor /= step;
        rest = divided(rest, divisor).rest;
    }
    return rest;
}

template <class T>
EP_INLINE T signed_remainder(T a, T b, T rest) {
    const bool is_legal = (absolute_of(a) < std::numeric_limits<T>::infinity()) & (absolute_of(b) > T{0});
    return is_legal ? with_sign_of(rest, a) : std::numeric_limits<T>::quiet_NaN();
}

// C's fmod; the short form is for quotients that are not long, where it gives the same.
template <class T>
EP_INLINE T truncated_remainder(T a, T b) {
    return signed_remainder(a, b, remainder_of_magnitudes(absolute_of(a), absolute_of(b)));
}
template <class T>
EP_INLINE T short_truncated_remainder(T a, T b) {
    return signed_remainder(a, b, divided(absolute_of(a), absolute_of(b)).rest);
}

// a - b floor(a / b), rounded once, with the sign of b.
template <class T>
EP_INLINE T floored_from(T rest, T b) {
    return with_sign_of(rest * with_sign_of(T{1}, b) < T{0} ? rest + b : rest, b);
}
template <class T>
EP_INLINE T floored_remainder(T a, T b) {
    return floored_from(truncated_remainder(a, b), b);
}
template <class T>
EP_INLINE T short_floored_remainder(T a, T b) {
    return floored_from(short_truncated_remainder(a, b), b);
}

// floor(|a / b|), or ceil(|a / b|) for direction -1, rounded to T. From WHOLE_LIMIT on, the rounded quotient is that
// too, unless the whole number that is meant lies halfway between two numbers of T: that one goes to the even
// neighbour.
template <class T>
EP_INLINE T whole_quotient(T a, T b, T direction) {
    using F = Float<T>;
    using Bits = typename F::Bits;
    const Division<T> d = divided(a, b);
    const T beyond = direction * d.rest, near = d.whole + (beyond < T{0} ? T{1} : T{0});
    const Bits bits = bits_of(d.whole);
    const T unit = of_bits<T>(bits & ~((Bits{1} << F::fraction) - 1)) * std::numeric_limits<T>::epsilon();
    const T half = T(0.5) * unit;
    // The exact quotient is within 1 of the middle, on the side of it that is cut off.
    const bool is_beside = (beyond < T{0}) & ((half <= T{1}) | (fused(half, b, beyond) < b));
    const Bits step = is_beside ? bits & 1 : Bits{0};
    const T far = of_bits<T>(direction < T{0} ? bits + step : bits - step);
    return d.whole < WHOLE_LIMIT<T> ? near : far;
}

template <class T>
EP_INLINE T truncated_quotient(T a, T b) {
    const T quotient = a / b, whole = whole_quotient(absolute_of(a), absolute_of(b), T{1});
    return absolute_of(quotient) < std::numeric_limits<T>::infinity() ? with_sign_of(whole, quotient) : quotient;
}

template <class T>
EP_INLINE T floored_quotient(T a, T b) {
    const T quotient = a / b;
    const T whole = whole_quotient(absolute_of(a), absolute_of(b), with_sign_of(T{1}, quotient));
    return absolute_of(quotient) < std::numeric_limits<T>::infinity() ? with_sign_of(whole, quotient) : quotient;
}
