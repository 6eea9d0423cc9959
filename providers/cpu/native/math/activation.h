// The activations. A NaN passes through all of them.
#pragma once

#include "double_word.h"
#include "error_function.h"
#include "exponential.h"
#include "logarithm.h"

template <class T>
struct Activation;

template <>
struct Activation<float> {
    static constexpr float gauss_zero = 15.0F, gauss_far_zero = 20.0F;  // where e^(-a^2/2), and 2^127 times it, are 0
    static constexpr float logistic_zero = 208.0F;                      // where 2^127 e^-a is 0
    // Left of it e^x is log(1 + e^x), and 2^far_exponent e^x normal as far as logistic_zero; two steps take that back.
    static constexpr float far = -80.0F, far_exponent = 180.0F, far_step = 8.077935669463161e-28F;
};

template <>
struct Activation<double> {
    static constexpr double gauss_zero = 39.0, gauss_far_zero = 55.0;
    static constexpr double logistic_zero = 1500.0;
    static constexpr double far = -700.0, far_exponent = 1500.0, far_step = 1.688508503057271e-226;
};

// A constant, given as the sum of two double, as a sum of two T.
template <class T>
EP_INLINE DoubleWord<T> two_words(double x, double rest) {
    const T high = static_cast<T>(x);
    return {high, static_cast<T>((x - static_cast<double>(high)) + rest)};
}

template <class T>
EP_INLINE T elu_of(T x, T alpha) {
    return x > T{0} ? x : alpha * exponential_minus_one(x);
}

// A quotient next to 0 may have lost its digits, and alpha times it is x.
template <class T>
EP_INLINE T celu_of(T x, T alpha) {
    const T quotient = x / alpha, left = alpha * exponential_minus_one(quotient);
    return (x > T{0}) | (absolute_of(quotient) < Float<T>::linear) ? x : left;
}

template <class T>
EP_INLINE T selu_of(T x) {
    constexpr T scale = static_cast<T>(1.0507009873554805), steep = static_cast<T>(1.7580993408473766);
    return x > T{0} ? scale * x : steep * exponential_minus_one(x);
}

// x / 6 + 1 / 2 between 0 and 1, without the cancellation near -3
template <class T>
EP_INLINE T hard_sigmoid_of(T x) {
    return at_least(at_most(x + T{3}, T{6}), T{0}) / T{6};
}

template <class T>
EP_INLINE T hard_swish_of(T x) {
    const T inside = x * (x + T{3}) / T{6}, right = x >= T{3} ? x : inside;
    return x <= T{-3} ? T{0} : right;
}

template <class T>
EP_INLINE T hard_shrink_of(T x, T lambd) {
    return (x >= -lambd) & (x <= lambd) ? T{0} : x;
}

template <class T>
EP_INLINE T soft_shrink_of(T x, T alpha) {
    const T right = x > alpha ? x - alpha : T{0}, outside = x < -alpha ? x + alpha : right;
    return x == x ? outside : x;
}

template <class T>
EP_INLINE T soft_sign_of(T x) {
    const T a = at_most(absolute_of(x), Float<T>::integer_magic * T{4});
    return with_sign_of(a / (T{1} + a), x);
}

// For a = |x|, up to `zero`, where the result is 0: e^(-a^2/2), and Phi(-a) over it.
template <class T>
struct Gauss {
    T a, ratio;
    Scaled<T> density;
};

template <class T>
EP_INLINE Gauss<T> gauss_of(T x, T zero) {
    const T a = at_most(absolute_of(x), zero);
    return {a, T(0.5) * scaled_error_function(a * static_cast<T>(0.70710678118654752)), bell(a, T(0.5))};
}

// a e^(a^2/2) Phi(-a) for a >= 0; of float in s = a / (a + 2.5), of which (a + 2.5) e^(a^2/2) Phi(-a) is a polynomial.
EP_INLINE float normal_tail(float a) {
    const float s = a / (a + 2.5F);
    return s * Horner{}(s, -0.0810521543F, 0.284464061F, -0.320883632F, 0.144543469F, -0.153143913F, 0.0571122095F,
                        0.291662723F, 0.169628903F, -1.2433933F, 1.25F);
}
EP_INLINE double normal_tail(double a) {
    return 0.5 * a * scaled_error_function(a * 0.70710678118654752);
}

// x Phi(x) = max(x, 0) - |x| Phi(-|x|), where nothing less a tail of 0 is -0.
template <class T>
EP_INLINE T gelu_of(T x) {
    const T a = size_within(x, Activation<T>::gauss_zero);
    const DoubleWord<T> exponent = two_product(T(-0.5) * a, a);
    const T tail = exponential_raised(exponent.high, exponent.low) * normal_tail(a) * Exponential<T>::spare;
    return at_least(x, -T{0}) - tail;
}

// e^-|z|, also as value * 2^exponent, for a z in two words; it ends at logistic_zero.
template <class T>
struct Decay {
    T e;
    Scaled<T> scaled;
};

template <class T>
EP_INLINE Decay<T> decay_of(DoubleWord<T> z) {
    const T a = at_most(absolute_of(z.high), Activation<T>::logistic_zero);
    const Scaled<T> e = exponential_scaled(-a, z.high < T{0} ? z.low : -z.low);
    return {e.value * power_of_two(at_least(e.exponent, T(1 - Float<T>::bias))), e};
}

// weight sigmoid(z), where a weight that is infinite has a positive z: the product is formed before anything
// underflows.
template <class T>
EP_INLINE T weighted_sigmoid(T weight, DoubleWord<T> z) {
    const Decay<T> decay = decay_of(z);
    const bool is_left = z.high < T{0};
    const T left = z.high <= -Activation<T>::logistic_zero ? T{0} : decay.scaled.value;
    const T numerator = is_left ? left : T{1};
    return scale_far(weight * (numerator / (T{1} + decay.e)), is_left ? decay.scaled.exponent : T{0});
}

// x sigmoid(z) for a z of the sign of x and at least as far from 0, with low, the second word of -|z|: 0 from `deep`
// on.
template <class T>
EP_INLINE T gated(T x, T z, T low) {
    using E = Exponential<T>;
    const bool is_left = z < T{0};
    const T raised = exponential_raised(-size_within(z, -E::deep), low);
    const T share = (is_left ? raised : T{1}) / (T{1} + raised * E::spare);
    return at_least(x, E::deep) * share * (is_left ? E::spare : T{1});
}
template <class T>
EP_INLINE T gated(T x, DoubleWord<T> z) {
    const T low = z.high == z.high ? z.low : T{0};
    return gated(x, z.high, z.high < T{0} ? low : -low);
}

// x between numbers so large that sigmoid is 0 and 1 there
template <class T>
EP_INLINE T logistic_inside(T x) {
    return at_least(at_most(x, Activation<T>::logistic_zero), -Activation<T>::logistic_zero);
}

template <class T>
EP_INLINE T silu_of(T x) {
    return gated(x, x, -T{0});
}

// The arguments of sigmoid in two words, because an error of one ulp in z is |z| ulps of e^z: 1.702 x, and
// 2 sqrt(2 / pi) (x + 0.044715 x^3).
template <class T>
EP_INLINE DoubleWord<T> quick_argument(T x) {
    return two_words<T>(1.702, 0.0) * DoubleWord<T>{x, T{0}};
}

template <class T>
EP_INLINE DoubleWord<T> fast_argument(T x) {
    const DoubleWord<T> linear = two_words<T>(1.5957691216057308, 0.0);
    const DoubleWord<T> cubic = two_words<T>(0.07135481627260025, 3.3591871225076503e-19) * two_product(x, x);
    const DoubleWord<T> slope = two_sum(linear.high, cubic.high);
    return DoubleWord<T>{slope.high, slope.low + (linear.low + cubic.low)} * DoubleWord<T>{x, T{0}};
}

template <class T>
EP_INLINE T quick_gelu_of(T x) {
    return gated(x, quick_argument(logistic_inside(x)));
}

template <class T>
EP_INLINE T fast_gelu_of(T x) {
    return gated(x, fast_argument(logistic_inside(x)));
}

// x tanh(log(1 + e^x)) as a quotient of polynomials of e^-|x|
template <class T>
EP_INLINE T mish_of(T x) {
    using E = Exponential<T>;
    const T raised = exponential_raised(-size_within(x, -E::deep), -T{0}), e = raised * E::spare;
    const bool is_left = x < T{0};
    const T numerator = is_left ? raised * (e + T{2}) : fused(T{2}, e, T{1});
    const T denominator = is_left ? fused(e, e + T{2}, T{2}) : fused(e + e, e + T{1}, T{1});
    return at_least(x, E::deep) * (numerator / denominator) * (is_left ? E::spare : T{1});
}

// log(1 + e^(beta x)) / beta; where e^(beta x) is the logarithm, it is raised, and divided before it is made small.
template <class T>
EP_INLINE T soft_plus_of(T x, T beta, T threshold) {
    using A = Activation<T>;
    const T z = beta * x, size = absolute_of(z);
    const bool is_inside = size < A::logistic_zero, is_far = z < A::far;
    const T low = is_inside ? two_product(beta, x).low : T{0}, most = z < T{0} ? A::logistic_zero : -A::far;
    const Shifted<T> e = shifted(-size_within(z, most), is_far ? A::far_exponent : T{0});
    const T raised = exponential_times(e.r + (z < T{0} ? low : -low), e.power);
    const T value = at_least(z, T{0}) + ((z > T{0} ? low : T{0}) + logarithm1p_of_share(raised));
    // A small beta takes one of the steps, so that the quotient does not overflow.
    const bool is_small = absolute_of(beta) < T{1};
    const T near_beta = is_small ? beta / A::far_step : beta, last = is_small ? T{1} : A::far_step;
    const T quotient = (is_far ? raised : value) / (is_far ? near_beta : beta);
    return z > threshold ? x : quotient * (is_far ? A::far_step : T{1}) * (is_far ? last : T{1});
}
