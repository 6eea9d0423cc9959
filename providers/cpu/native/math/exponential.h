// e^x, 2^x and e^x - 1.
#pragma once

#include "double_word.h"

// Beyond low and high e^x is 0 and infinite, beyond low2 and high2 2^x; below low1 e^x - 1 is -1. From `deep` on, where
// e^x is 0 even times |x|, every 2^n that e^x has is normal in 2^spare_exponent times its size, and `spare` takes that
// back.
template <class T>
struct Exponential;

template <>
struct Exponential<float> {
    static constexpr float spare = 5.4210108624275222e-20F, spare_exponent = 64.0F, deep = -130.0F;
    static constexpr float low = -104.0F, high = 89.0F, low2 = -151.0F, high2 = 129.0F, low1 = -20.0F;
    // (e^r - 1 - r) / r^2 on |r| <= 0.361
    static EP_INLINE float tail(float r) {
        return Horner{}(r, 0.001380841F, 0.008371707F, 0.04166869F, 0.16666494F, 0.4999999F);
    }
};

template <>
struct Exponential<double> {
    static constexpr double spare = 2.938735877055719e-39, spare_exponent = 128.0, deep = -790.0;
    static constexpr double low = -746.0, high = 710.0, low2 = -1080.0, high2 = 1025.0, low1 = -40.0;
    static EP_INLINE double tail(double r) {
        return Horner{}(r, 2.5104569119575264e-08, 2.7625528779602231e-07, 2.7557259283796552e-06,
                        2.4801509363371165e-05, 0.00019841269869218351, 0.0013888888925230203, 0.0083333333333287726,
                        0.041666666666607365, 0.16666666666666669, 0.50000000000000011);
    }
};

// e^x as value * 2^exponent, so that the caller multiplies before anything underflows.
template <class T>
struct Scaled {
    T value, exponent;
};

template <class T>
struct Reduced {
    T r, n;
};

// x = n ln 2 + r; x is given in two parts.
template <class T>
EP_INLINE Reduced<T> reduce(T high, T low) {
    using F = Float<T>;
    const T n = nearest_integer((high + low) * static_cast<T>(1.4426950408889634));
    return {(fused(-n, F::ln2_high, high) - n * F::ln2_low) + low, n};
}

// e^r - 1 for a small r
template <class T>
EP_INLINE T exponential_rest(T r) {
    return fused(r * r, Exponential<T>::tail(r), r);
}
// e^r times a power of two, rounded once.
template <class T>
EP_INLINE T exponential_times(T r, T power) {
    return fused(exponential_rest(r), power, power);
}

template <class T>
EP_INLINE Scaled<T> exponential_scaled(T high, T low) {
    const Reduced<T> x = reduce(high, low);
    return {T{1} + exponential_rest(x.r), x.n};
}

// x = n ln 2 + r, and 2^n times 2^offset in the bits of a number, where that is normal.
template <class T>
struct Shifted {
    T r, power;
};

template <class T>
EP_INLINE Shifted<T> shifted(T x, T offset) {
    using F = Float<T>;
    const T shift = (F::integer_magic + F::bias) + offset;
    const T t = fused(x, static_cast<T>(1.4426950408889634), shift), n = t - shift;
    return {fused(-n, F::ln2_low, fused(-n, F::ln2_high, x)), of_bits<T>(bits_of(t) << F::fraction)};
}

// e^x: 2^n is made too large on the left and too small on the right, so that it is normal, and the last factor rounds.
template <class T>
EP_INLINE T exponential(T x) {
    using E = Exponential<T>;
    const bool is_left = x < T{0};
    const Shifted<T> e =
        shifted(at_least(at_most(x, E::high), E::low), is_left ? E::spare_exponent : -E::spare_exponent);
    return exponential_times(e.r, e.power) * (is_left ? E::spare : T{1} / E::spare);
}

// 2^spare_exponent e^(high + low), which is normal, for `high` from deep to 0. A `low` of -0 costs nothing.
template <class T>
EP_INLINE T exponential_raised(T high, T low) {
    const Shifted<T> e = shifted(high, Exponential<T>::spare_exponent);
    return exponential_times(e.r + low, e.power);
}

// e^x for x <= 0
template <class T>
EP_INLINE T exponential_falling(T x) {
    using E = Exponential<T>;
    return exponential_raised(at_least(x, E::low), -T{0}) * E::spare;
}

// 2^x, exact for integers.
template <class T>
EP_INLINE Scaled<T> exponential2_scaled(T x) {
    const T n = nearest_integer(x);
    return {T{1} + exponential_rest((x - n) * static_cast<T>(0.69314718055994531)), n};
}

template <class T>
EP_INLINE T exponential2(T x) {
    using F = Float<T>;
    using E = Exponential<T>;
    const bool is_left = x < T{0};
    const T inside = at_least(at_most(x, E::high2), E::low2);
    const T shift = (F::integer_magic + F::bias) + (is_left ? E::spare_exponent : -E::spare_exponent);
    const T t = inside + shift, r = (inside - (t - shift)) * static_cast<T>(0.69314718055994531);
    const T power = of_bits<T>(bits_of(t) << F::fraction);
    return exponential_times(r, power) * (is_left ? E::spare : T{1} / E::spare);
}

// (e^x - 1) / 4 as far as e^x / 4 is finite; the caller cuts off x below low1, where it is -1/4. e^r - 1 has two
// words, because it is doubled before 1 is taken away.
template <class T>
EP_INLINE T quarter_exponential_minus_one(T x) {
    using F = Float<T>;
    const T n = nearest_integer(x * static_cast<T>(1.4426950408889634));
    const DoubleWord<T> r = two_sum(fused(-n, F::ln2_high, x), -n * F::ln2_low);
    const T low = fused(r.high, r.low, r.low);
    const DoubleWord<T> small = fast_two_sum(r.high, fused(r.high * r.high, Exponential<T>::tail(r.high), low));
    const T factor = power_of_two(n - T{2});
    return fused(small.low, factor, fused(small.high, factor, factor - T(0.25)));
}

template <class T>
EP_INLINE T exponential_minus_one(T x) {
    using E = Exponential<T>;
    const T value = T{4} * quarter_exponential_minus_one(at_least(at_most(x, E::high), E::low1));
    return absolute_of(x) < Float<T>::linear ? x : value;
}
