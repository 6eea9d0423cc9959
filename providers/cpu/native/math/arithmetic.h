// Operations whose meaning depends on the element type.
#pragma once

template <class T>
constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// Integers wrap modulo 2^n: the unsigned type in which they do, without C's promotion to a signed int.
template <class T>
using Word = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;
template <class T>
EP_INLINE Word<T> raw(T x) {
    return static_cast<Word<T>>(x);
}

template <class T>
EP_INLINE T sum(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
        return a | b;
    else if constexpr (is_integer<T>)
        return static_cast<T>(raw(a) + raw(b));
    else
        return a + b;
}
template <class T>
EP_INLINE T difference(T a, T b) {
    if constexpr (is_integer<T>)
        return static_cast<T>(raw(a) - raw(b));
    else
        return a - b;
}
template <class T>
EP_INLINE T product(T a, T b) {
    if constexpr (std::is_same_v<T, bool>)
        return a & b;
    else if constexpr (is_integer<T>)
        return static_cast<T>(raw(a) * raw(b));
    else
        return a * b;
}
template <class T>
EP_INLINE T negated(T x) {
    if constexpr (is_integer<T>)
        return static_cast<T>(Word<T>{0} - raw(x));
    else
        return -x;
}

template <class T>
EP_INLINE T absolute(T x) {
    if constexpr (!is_integer<T>)
        return absolute_of(x);
    else if constexpr (std::is_signed_v<T>)
        return x < 0 ? negated(x) : x;
    else
        return x;
}
template <class T>
EP_INLINE T absolute(Complex<T> z) {
    return modulus(z);
}

template <class T>
EP_INLINE T sign_of(T x) {
    const T below = x < T{0} ? static_cast<T>(-1) : x;
    return x > T{0} ? T{1} : below;
}
template <class T>
EP_INLINE T reciprocal(T x) {
    return T{1} / x;
}

// a 2^b and floor(a / 2^b): a count outside the bits of the type, which as a word is a large one, shifts all of them
// out.
template <class T>
EP_INLINE T shifted_left(T a, T b) {
    constexpr Word<T> bits = sizeof(T) * 8;
    const Word<T> count = raw(b);
    return count < bits ? static_cast<T>(raw(a) << (count & (bits - 1))) : T{0};
}
template <class T>
EP_INLINE T shifted_right(T a, T b) {
    constexpr Word<T> bits = sizeof(T) * 8;
    const Word<T> count = raw(b), most = count < bits ? count : bits - 1;
    const T shifted = static_cast<T>(a >> most);
    return std::is_signed_v<T> || count < bits ? shifted : T{0};
}

template <class T>
EP_INLINE T inverted(T x) {
    return static_cast<T>(~x);
}
EP_INLINE bool inverted(bool x) {
    return !x;
}

// NaN wins from either side; +0 is above -0.
template <class T>
EP_INLINE T larger(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        const T ordered = a > b ? a : b;
        const T settled = a == b ? of_bits<T>(bits_of(a) & bits_of(b)) : ordered;
        return a != a ? a : settled;
    } else if constexpr (std::is_same_v<T, bool>) {
        return a | b;
    } else {
        return a > b ? a : b;
    }
}
template <class T>
EP_INLINE T smaller(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        const T ordered = a < b ? a : b;
        const T settled = a == b ? of_bits<T>(bits_of(a) | bits_of(b)) : ordered;
        return a != a ? a : settled;
    } else if constexpr (std::is_same_v<T, bool>) {
        return a & b;
    } else {
        return a < b ? a : b;
    }
}
