// Derivatives times dy that take more than one expression. No square of x overflows on the way.
#pragma once

#include "exponential.h"
#include "trigonometric.h"

template <class T>
EP_INLINE T absolute_slope(T dy, T x) {
    const T left = x < T{0} ? -dy : x - x;
    return x > T{0} ? dy : left;
}

// dy / sqrt(1 - x^2)
template <class T>
EP_INLINE T arc_sine_slope(T dy, T x) {
    return dy / square_root((T{1} - x) * (T{1} + x));
}

// dy / (1 + x^2)
template <class T>
EP_INLINE T arc_tangent_slope(T dy, T x) {
    return absolute_of(x) > Float<T>::square_high ? dy / x / x : dy / fused(x, x, T{1});
}

// dy / sqrt(1 + x^2)
template <class T>
EP_INLINE T area_sine_slope(T dy, T x) {
    const T a = absolute_of(x);
    return dy / (a > Float<T>::square_high ? a : square_root(fused(x, x, T{1})));
}

// dy / sqrt(x^2 - 1), of x >= 1 alone
template <class T>
EP_INLINE T area_cosine_slope(T dy, T x) {
    return dy / (square_root(x - T{1}) * square_root(x + T{1}));
}

template <class T>
EP_INLINE T tangent_slope(T dy, T x) {
    const T root = cosine(x);
    return dy / (root * root);
}
