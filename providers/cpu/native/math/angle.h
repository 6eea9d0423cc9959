// Angles of any size reduced to an eighth of a turn, by the tables of quarter_turns.h.
#pragma once

#include "double_word.h"

// x = quadrant * pi/2 + high + low, |high| up to little more than pi/4.
template <class T>
struct Angle {
    T high, low;
    typename Float<T>::Bits quadrant;
};

// pi/4, so short in the higher word that its multiples by 3 are exact.
template <class T>
constexpr DoubleWord<T> QUARTER_PI =
    std::is_same_v<T, float> ? DoubleWord<T>{T(0.785398006F), T(1.5695824e-07F)}
                             : DoubleWord<T>{T(7.85398163397448278999e-01), T(3.06161699786838301793e-17)};

template <class T>
constexpr DoubleWord<T> HALF_PI = {Float<T>::half_pi_high, Float<T>::half_pi_low};

// All ones where |x| is small, so that x is the angle. Bits, because the compiler would make the loads from the tables
// conditional under a condition, and then no vectors of them.
template <class T>
EP_INLINE typename Float<T>::Bits small_mask(T x) {
    using Bits = typename Float<T>::Bits;
    return Bits{0} - static_cast<Bits>(absolute_of(x) < T(0.75));
}

template <class T>
EP_INLINE Angle<T> small_or(T x, Angle<T> a) {
    const auto keep = small_mask(x);
    return {of_bits<T>((bits_of(x) & keep) | (bits_of(a.high) & ~keep)), of_bits<T>(bits_of(a.low) & ~keep),
            a.quadrant & ~keep};
}

// The mantissa of x, with its sign, and which line of the table its exponent has.
template <class T>
struct Parts {
    T mantissa;
    typename Float<T>::Bits line;
};

template <class T>
EP_INLINE Parts<T> parts_of(T x) {
    using F = Float<T>;
    using Bits = typename F::Bits;
    const Bits bits = bits_of(absolute_of(x)), fraction = (Bits{1} << F::fraction) - 1;
    const T mantissa = of_bits<T>((bits & fraction) | bits_of(T{1}));
    return {with_sign_of(mantissa, x), ((bits >> F::fraction) - (F::bias - 1)) & ~small_mask(x)};
}

EP_INLINE Angle<float> reduced_angle(float x) {
    const Parts<float> parts = parts_of(x);
    const auto line = static_cast<int64_t>(parts.line);
    const auto& turns = ep::FLOAT_TURNS.part;
    const double m = static_cast<double>(parts.mantissa);
    const double first = m * turns[0][line], second = m * turns[1][line];
    const double n = nearest_integer(first + second);
    const double angle = ((first - n) + second) * HALF_PI<double>.high;
    const float high = static_cast<float>(angle), low = static_cast<float>(angle - static_cast<double>(high));
    return small_or(x, {high, low, static_cast<uint32_t>(bits_of(n + Float<double>::integer_magic))});
}

EP_INLINE Angle<double> reduced_angle(double x) {
    const Parts<double> parts = parts_of(x);
    const auto line = static_cast<int64_t>(parts.line);
    const auto& turns = ep::DOUBLE_TURNS.part;
    const double m = parts.mantissa;
    const DoubleWord<double> p1 = two_product(m, turns[0][line]), p2 = two_product(m, turns[1][line]),
                             p3 = two_product(m, turns[2][line]);
    // Whole turns go first: adding 1.5 * 2^56 leaves multiples of 16.
    constexpr double magic = 108086391056891904.0;
    const double part = p1.high - ((p1.high + magic) - magic);
    const DoubleWord<double> s1 = two_sum(part, p1.low), s2 = two_sum(s1.high, p2.high);
    const double n = nearest_integer(s2.high);
    const DoubleWord<double> t1 = two_sum(s1.low, s2.low), t2 = two_sum(t1.high, p2.low),
                             t3 = two_sum(t2.high, p3.high);
    const double rest = (t1.low + t2.low) + (t3.low + fused(m, turns[3][line], p3.low));
    const DoubleWord<double> sum = two_sum(s2.high - n, t3.high), turn = fast_two_sum(sum.high, sum.low + rest);
    const DoubleWord<double> angle = turn * HALF_PI<double>;
    return small_or(x, {angle.high, angle.low, bits_of(n + Float<double>::integer_magic)});
}
