// Derivatives times dy that take more than one expression.
#pragma once

#include "exponential.h"
#include "trigonometric.h"

#define EP_SHARED "mathematics/slope.inc"
#include "shared.h"

template <class T>
EP_INLINE T tangent_slope(T dy, T x) {
    const T root = cosine(x);
    return dy / (root * root);
}
