// The gradients of the activations: dy times the slope at x, or the slope as a function of y.
#pragma once

#include "activation.h"

// +0 where the slope is 0, whatever dy is, else the value; a NaN x passes.
template <class T>
EP_INLINE T unless(bool is_zero, T value, T x) {
    const T passed = x == x ? value : x;
    return is_zero ? T{0} : passed;
}

// weight e^x for x <= 0
template <class T>
EP_INLINE T decayed(T weight, T x) {
    constexpr T zero = -Activation<T>::logistic_zero;
    const Scaled<T> e = exponential_scaled(at_least(at_most(x, T{0}), zero), T{0});
    return scale_far(weight * (x <= zero ? T{0} : e.value), e.exponent);
}

// A large alpha comes last, so that only the whole product overflows, a small one first, where e^x makes up for its
// digits.
template <class T>
EP_INLINE T elu_slope(T dy, T x, T alpha) {
    const bool is_large = absolute_of(alpha) > T{1};
    const T left = decayed(is_large ? dy : alpha * dy, x) * (is_large ? alpha : T{1});
    return x > T{0} ? dy : left;
}

template <class T>
EP_INLINE T selu_slope(T dy, T x) {
    return x > T{0} ? dy * static_cast<T>(1.0507009873554805) : decayed(dy * static_cast<T>(1.7580993408473766), x);
}

// Where the quotient alone overflows, dy comes first.
template <class T>
EP_INLINE T celu_slope(T dy, T y, T alpha) {
    const T slope = (y + alpha) / alpha;
    const T left = absolute_of(slope) < std::numeric_limits<T>::infinity() ? dy * slope : dy * (y + alpha) / alpha;
    return y > T{0} ? dy : left;
}

template <class T>
EP_INLINE T leaky_relu_slope(T dy, T x, T alpha) {
    return unless(false, x > T{0} ? dy : alpha * dy, x);
}

template <class T>
EP_INLINE T hard_swish_slope(T dy, T x) {
    const T inside = dy * ((x + x + T{3}) / T{6});
    return unless(x <= T{-3}, x >= T{3} ? dy : inside, x);
}

// dy (Phi(x) + x phi(x)); for x < 0 the bracket is e^(-a^2/2) (ratio - a / sqrt(2 pi)), for x >= 0 one minus that.
template <class T>
EP_INLINE T gelu_slope(T dy, T x) {
    constexpr T zero = Activation<T>::gauss_far_zero;
    const Gauss<T> g = gauss_of(x, zero);
    const T near = fused(g.a, static_cast<T>(-0.39894228040143267794), g.ratio) * g.density.value;
    const T bracket = g.a >= zero ? T{0} : near;
    const T weight = x < T{0} ? dy : T{1};
    const T tail = scale_far(weight * bracket, g.density.exponent);
    return x < T{0} ? tail : dy * (T{1} - tail);
}

// dy (s + m s (1 - s)), s = sigmoid(z), m = x dz/dx: the slope of x sigmoid(z).
template <class T>
EP_INLINE T logistic_slope(T dy, DoubleWord<T> z, T m) {
    const Decay<T> decay = decay_of(z);
    const bool is_left = z.high < T{0};
    const T sum = T{1} + decay.e;
    const T left = z.high <= -Activation<T>::logistic_zero ? T{0} : decay.scaled.value * (sum + m);
    const T bracket = is_left ? left : fused(m, decay.e, sum);
    return scale_far(dy * (bracket / (sum * sum)), is_left ? decay.scaled.exponent : T{0});
}

template <class T>
EP_INLINE T silu_slope(T dy, T x) {
    const T z = logistic_inside(x);
    return logistic_slope(dy, {z, T{0}}, z);
}

template <class T>
EP_INLINE T quick_gelu_slope(T dy, T x) {
    const DoubleWord<T> z = quick_argument(logistic_inside(x));
    return logistic_slope(dy, z, z.high);
}

template <class T>
EP_INLINE T fast_gelu_slope(T dy, T x) {
    const T inside = logistic_inside(x);
    const T m =
        inside * fused(inside * inside, static_cast<T>(3 * 0.07135481627260025), static_cast<T>(1.5957691216057308));
    return logistic_slope(dy, fast_argument(inside), m);
}

template <class T>
EP_INLINE T soft_plus_slope(T dy, T x, T beta, T threshold) {
    const T z = beta * x;
    return z > threshold ? dy : weighted_sigmoid(dy, {z, T{0}});
}

// With e = e^-|x| and the denominator d of mish: for x < 0 e ((e + 2) d + 4 x (1 + e)) / d^2, for x >= 0
// ((1 + 2 e) d + 4 x e^2 (1 + e)) / d^2.
template <class T>
EP_INLINE T mish_slope(T dy, T x) {
    const T inside = logistic_inside(x);
    const Decay<T> decay = decay_of<T>({inside, T{0}});
    const T e = decay.e, steep = T{4} * inside * (T{1} + e);
    const bool is_left = x < T{0};
    const T left_denominator = fused(e, e + T{2}, T{2}), right_denominator = fused(e + e, e + T{1}, T{1});
    const T left =
        x <= -Activation<T>::logistic_zero ? T{0} : decay.scaled.value * fused(e + T{2}, left_denominator, steep);
    const T right = fused(fused(T{2}, e, T{1}), right_denominator, steep * e * e);
    const T denominator = is_left ? left_denominator : right_denominator;
    const T slope = (is_left ? left : right) / (denominator * denominator);
    return scale_far(dy * slope, is_left ? decay.scaled.exponent : T{0});
}

template <class T>
EP_INLINE T soft_sign_slope(T dy, T x) {
    const T size = T{1} + absolute_of(x);
    return dy / size / size;
}
