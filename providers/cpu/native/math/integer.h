// Division and powers of integers: x / 0 = 0, x mod 0 = x, MIN / -1 = MIN, and nothing traps.
#pragma once

#include "arithmetic.h"

// No vector unit divides integers; the float quotient of 16 bits, and the double quotient of 32, is far enough from the
// next integer to truncate right.
template <class T>
EP_INLINE T quotient(T a, T b) {
    using F = std::conditional_t<(sizeof(T) <= 2), float, double>;
    using Way = std::conditional_t<(sizeof(T) <= 2), int32_t, T>;
    bool is_ordinary = b != 0;
    if constexpr (std::is_signed_v<T>) is_ordinary = is_ordinary & (b != T{-1});
    const T divisor = is_ordinary ? b : T{1};
    T whole;
    if constexpr (sizeof(T) == 8)
        whole = a / divisor;
    else
        whole = static_cast<T>(static_cast<Way>(static_cast<F>(a) / static_cast<F>(divisor)));
    const T other = b == 0 ? T{0} : negated(a);
    return is_ordinary ? whole : other;
}

template <class T>
EP_INLINE T remainder_of(T a, T b) {
    return difference(a, product(quotient(a, b), b));
}

// Where the quotient rounds down, not towards zero: the remainder has another sign than the divisor.
template <class T>
EP_INLINE bool is_below(T rest, T b) {
    return (rest != 0) & ((rest < 0) != (b < 0)) & (b != 0);
}
template <class T>
EP_INLINE T floored_quotient(T a, T b) {
    const T whole = quotient(a, b), rest = difference(a, product(whole, b));
    return is_below(rest, b) ? difference(whole, T{1}) : whole;
}
template <class T>
EP_INLINE T floored_remainder(T a, T b) {
    const T rest = remainder_of(a, b);
    return is_below(rest, b) ? sum(rest, b) : rest;
}

// Square and multiply over all bits that an exponent of the type can have.
template <int bit, class T>
EP_INLINE T power_from(T base, T exponent, T value) {
    if constexpr (bit == std::numeric_limits<T>::digits)
        return value;
    else
        return power_from<bit + 1>(product(base, base), exponent,
                                   ((exponent >> bit) & 1) != 0 ? product(value, base) : value);
}
template <class T>
EP_INLINE T integer_power(T base, T exponent) {
    const T ordinary = power_from<0>(base, exponent, T{1});
    if constexpr (std::is_signed_v<T>) {
        const T alternating = (exponent & 1) != 0 ? T{-1} : T{1};
        const T inverse = base == T{1} ? T{1} : base == T{-1} ? alternating : T{0};
        return exponent < 0 ? inverse : ordinary;
    } else {
        return ordinary;
    }
}

// The words of 16-bit numbers below 0, -0 and -infinity among them, become 0; those of NaN are beyond infinity's.
template <uint16_t infinity>
EP_INLINE uint16_t positive_word(uint16_t x) {
    return static_cast<uint16_t>(x - 0x8000) <= infinity ? uint16_t{0} : x;
}
