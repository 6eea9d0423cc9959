// Tests and comparisons of all element types.
#pragma once

template <class T>
EP_INLINE bool less(T a, T b) {
    return a < b;
}
EP_INLINE bool less(bool a, bool b) {
    return !a & b;
}

template <class T>
EP_INLINE bool is_nan(T x) {
    return x != x;
}
template <class T>
EP_INLINE bool is_infinite(T x) {
    if constexpr (std::is_floating_point_v<T>)
        return absolute_of(x) == std::numeric_limits<T>::infinity();
    else
        return false;
}
template <class T>
EP_INLINE bool is_infinite(Complex<T> z) {
    return is_infinite(z.re) | is_infinite(z.im);
}
template <class T>
EP_INLINE bool is_finite(T x) {
    if constexpr (std::is_floating_point_v<T>)
        return absolute_of(x) < std::numeric_limits<T>::infinity();
    else
        return true;
}
template <class T>
EP_INLINE bool is_finite(Complex<T> z) {
    return is_finite(z.re) & is_finite(z.im);
}

// The sign bit, of zeros and NaN too.
template <class T>
EP_INLINE bool is_negative(T x) {
    return bits_of(x) >> (sizeof(T) * 8 - 1) != 0;
}

// One in the type of an input; of complex types with imaginary part 0.
template <class T>
EP_INLINE T one() {
    return T{1};
}
template <>
EP_INLINE Complex<double> one<Complex<double>>() {
    return {1, 0};
}

#define EP_SHARED "mathematics/closeness.inc"
#include "shared/each.h"

// |a - b| <= absolute + relative |b| of integers, whose distance is exact before it becomes a double.
template <class T>
EP_INLINE bool is_close(T a, T b, double absolute, double relative) {
    using Unsigned = std::make_unsigned_t<T>;
    const auto left = static_cast<Unsigned>(a), right = static_cast<Unsigned>(b);
    const auto apart = static_cast<double>(static_cast<Unsigned>(a > b ? left - right : right - left));
    return (a == b) | is_within(apart, static_cast<double>(b), absolute, relative);
}
