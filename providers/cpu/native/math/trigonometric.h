// Circular functions and their inverses, over the whole range.
#pragma once

#include "angle.h"

// (sin a - a) / a^3, (cos a - 1 + a^2 / 2) / a^4, (asin a - a) / a^3 and (atan a - a) / a^3 in z = a^2.
EP_INLINE float sine_tail(float z) {
    return Horner{}(z, 2.7243811e-06F, -1.9840039e-04F, 8.333332e-03F, -1.6666667e-01F);
}
EP_INLINE double sine_tail(double z) {
    return Horner{}(z, -7.58549250782124e-13, 1.605851097953535e-10, -2.5052106100926675e-08, 2.755731921895673e-06,
                    -0.0001984126984126457, 0.008333333333333331, -0.16666666666666666);
}
EP_INLINE float cosine_tail(float z) {
    return Horner{}(z, 2.4542896e-05F, -1.3888279e-03F, 4.1666664e-02F);
}
EP_INLINE double cosine_tail(double z) {
    return Horner{}(z, -1.1380876948169717e-11, 2.087612165887116e-09, -2.755731715246704e-07, 2.4801587298533456e-05,
                    -0.0013888888888887241, 0.041666666666666664);
}
EP_INLINE float arc_sine_tail(float z) {
    return Horner{}(z, 3.8085025e-02F, 2.6554542e-02F, 4.500138e-02F, 7.498855e-02F, 1.6666673e-01F);
}
EP_INLINE double arc_sine_tail(double z) {
    return Horner{}(z, 0.028757851367421566, -0.014851887071247204, 0.01740087944269402, 0.005457506718640358,
                    0.01032281435018578, 0.011479177415184906, 0.013971212973552933, 0.017352392720869973,
                    0.02237217294214989, 0.030381944138531247, 0.04464285714635543, 0.07499999999998433,
                    0.16666666666666669);
}
EP_INLINE float arc_tangent_tail(float z) {
    return Horner{}(z, -6.449835e-02F, 1.07430995e-01F, -1.4263897e-01F, 1.9999538e-01F, -3.333333e-01F);
}
EP_INLINE double arc_tangent_tail(double z) {
    return Horner{}(z, -0.019162068915902573, 0.03921955253255129, -0.05085030492810941, 0.058580687568615106,
                    -0.06664502215671447, 0.07692182535116648, -0.09090904549884611, 0.11111111014561013,
                    -0.14285714284657894, 0.1999999999999548, -0.3333333333333333);
}

template <class T>
struct SineCosine {
    T sine, cosine;
};

template <class T>
EP_INLINE SineCosine<T> sine_cosine(T x) {
    using Bits = typename Float<T>::Bits;
    constexpr int to_sign = sizeof(T) * 8 - 2;
    const Angle<T> a = reduced_angle(x);
    const T z = a.high * a.high, half = T(0.5) * z;
    const T odd = a.high + fused(z * a.high, sine_tail(z), a.low - half * a.low), near = T{1} - half;
    const T even = near + (((T{1} - near) - half) + fused(z * z, cosine_tail(z), -a.high * a.low));
    const bool is_odd = (a.quadrant & 1) != 0;
    const T sine = is_odd ? even : odd, cosine = is_odd ? odd : even;
    return {x == T{0} ? x : of_bits<T>(bits_of(sine) ^ ((a.quadrant & Bits{2}) << to_sign)),
            of_bits<T>(bits_of(cosine) ^ (((a.quadrant + Bits{1}) & Bits{2}) << to_sign))};
}

// Float angles up to here have at most 12 digits of quarter turns, of which multiples of short parts of pi/2 are exact.
EP_INLINE bool is_far_angle(float x) {
    return absolute_of(x) > 4096.0F;
}
// The sine and the cosine of an angle that is not far.
EP_INLINE SineCosine<float> near_sine_cosine(float x) {
    constexpr float magic = Float<float>::integer_magic;
    const float t = fused(x, 0.636619772F, magic), n = t - magic;
    const float rest = fused(-n, 7.549533620476723e-08F, fused(-n, 0.0004837512969970703F, fused(-n, 1.5703125F, x)));
    const float a = fused(-n, 2.5633440682570896e-12F, rest), z = a * a;
    const float odd = fused(z * a, sine_tail(z), a);
    const float even = fused(z, fused(z, cosine_tail(z), -0.5F), 1.0F);
    const uint32_t quadrant = bits_of(t);
    const bool is_odd = (quadrant & 1) != 0;
    const float sine = is_odd ? even : odd, cosine = is_odd ? odd : even;
    return {x == 0.0F ? x : of_bits<float>(bits_of(sine) ^ ((quadrant & 2U) << 30)),
            of_bits<float>(bits_of(cosine) ^ (((quadrant + 1U) & 2U) << 30))};
}
EP_INLINE SineCosine<float> any_sine_cosine(float x) {
    const SineCosine<float> near = near_sine_cosine(x), far = sine_cosine(x);
    const bool is_far = is_far_angle(x);
    return {is_far ? far.sine : near.sine, is_far ? far.cosine : near.cosine};
}
EP_INLINE SineCosine<double> any_sine_cosine(double x) {
    return sine_cosine(x);
}

template <class T>
EP_INLINE T tangent_of(SineCosine<T> of) {
    return of.sine / of.cosine;
}

template <class T>
EP_INLINE T sine(T x) {
    return any_sine_cosine(x).sine;
}
template <class T>
EP_INLINE T cosine(T x) {
    return any_sine_cosine(x).cosine;
}
template <class T>
EP_INLINE T tangent(T x) {
    return tangent_of(any_sine_cosine(x));
}

// asin(s) - s for s = |x| <= 1/2 (|x| is its square's root), else for s = sqrt((1 - |x|) / 2), with which asin|x| =
// pi/2 - 2 asin(s).
template <class T>
struct HalfAngle {
    T s, tail;
};

template <class T>
EP_INLINE bool is_halved(T x) {
    return absolute_of(x) > T(0.5);
}

template <class T>
EP_INLINE HalfAngle<T> half_angle(T x) {
    const T a = absolute_of(x);
    const T z = is_halved(x) ? T(0.5) - T(0.5) * a : a * a, s = square_root(z);
    return {s, s * (z * arc_sine_tail(z))};
}

template <class T>
EP_INLINE T arc_sine(T x) {
    const HalfAngle<T> half = half_angle(x);
    const DoubleWord<T> sum = fast_two_sum(Float<T>::half_pi_high, T{-2} * half.s);
    const T near = absolute_of(x) + half.tail, far = sum.high + (sum.low + (Float<T>::half_pi_low - T{2} * half.tail));
    return with_sign_of(is_halved(x) ? far : near, x);
}

template <class T>
EP_INLINE T arc_cosine(T x) {
    using F = Float<T>;
    const HalfAngle<T> half = half_angle(x);
    const bool is_left = x < T{0};
    const T arc = half.s + half.tail, twice = arc + arc;
    const T pi = F::half_pi_high * 2 - (twice - F::half_pi_low * 2);
    const T near = F::half_pi_high - (x - (F::half_pi_low - with_sign_of(half.tail, x)));
    const T far = is_left ? pi : twice;
    return is_halved(x) ? far : near;
}

// The angle of the point (x, y) with x = low or high and y the other, both >= 0, and its mirror image for left = -1: by
// t = low / high or, beyond tan(pi / 8), where atan(low / high) = pi/4 + atan(t), t = (low - high) / (low + high).
template <class T>
EP_INLINE T angle_of(T low, T high, bool is_steep, T left) {
    const bool is_diagonal = low > high * T(0.41421356237309505);
    const T t = (is_diagonal ? low - high : low) / (is_diagonal ? low + high : high);
    const T z = t * t, tail = t * (z * arc_tangent_tail(z));
    const T octant = is_diagonal ? T{1} : T{0}, steep = is_steep ? T{-1} : T{1}, sign = steep * left;
    // In eighths of a half turn: mirrored at the diagonal, then at the axis.
    const T quadrant = fused(steep, octant, T{1} - steep), eighths = fused(left, quadrant, T{2} - (left + left));
    const DoubleWord<T> sum = fast_two_sum(eighths * QUARTER_PI<T>.high, sign * t);
    return sum.high + (sum.low + fused(eighths, QUARTER_PI<T>.low, sign * tail));
}

template <class T>
EP_INLINE T arc_tangent(T x) {
    const T a = absolute_of(x);
    const bool is_steep = a > T{1};
    return with_sign_of(angle_of(is_steep ? T{1} : a, is_steep ? a : T{1}, is_steep, T{1}), x);
}

// The angle of the point (x, y), with the signs of C's atan2.
template <class T>
EP_INLINE T arc_tangent2(T y, T x) {
    using F = Float<T>;
    constexpr T huge = std::numeric_limits<T>::max() / 4, infinity = std::numeric_limits<T>::infinity();
    const T a = absolute_of(x), b = absolute_of(y);
    const bool is_steep = b > a;
    const T most = is_steep ? b : a, least = is_steep ? a : b;
    const T up = most < F::tiny ? F::tiny_scale : T{1}, scale = most > huge ? T(0.25) : up;
    const T high = (least == infinity) | (most == T{0}) ? T{1} : most * scale;
    const T low = least == infinity ? T{1} : least * scale;
    const T angle = angle_of(low, high, is_steep, with_sign_of(T{1}, x));
    return (a != a) | (b != b) ? a + b : with_sign_of(angle, y);
}
