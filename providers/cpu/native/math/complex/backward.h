// The backward forms of complex functions: dy times the conjugate of a derivative.
#pragma once

#include "circular.h"
#include "root.h"

EP_INLINE Complex<double> backward(Complex<double> dy, Complex<double> slope) {
    return dy * conjugate(slope);
}
EP_INLINE Complex<double> backward(Complex<double> dy, ScaledComplex slope) {
    return scale(ScaledComplex{dy * conjugate(slope.value), slope.exponent});
}

// down (1 - z) and down (1 + z), for a power of two that keeps their product within range
struct Factors {
    Complex<double> below, above;
    double down;
};
EP_INLINE Factors factors_of_one_minus_square(Complex<double> z) {
    const double down = binade_of(at_least(magnitudes(z).greater, 1.0)).down;
    const Complex<double> unit = z * down;
    return {{down - unit.re, -unit.im}, {down + unit.re, unit.im}, down};
}

// 1 / (1 - z^2), the derivative of atanh
EP_INLINE Complex<double> area_tangent_slope(Complex<double> z) {
    const Factors f = factors_of_one_minus_square(z);
    return reciprocal(f.below * f.above) * f.down * f.down;
}
EP_INLINE Complex<double> arc_tangent_slope(Complex<double> z) {
    return area_tangent_slope(turned_left(z));
}

// 1 / sqrt(1 - z^2), the derivative of asin: the arguments of 1 - z and 1 + z differ in sign, so their product keeps
// the side of the cut.
EP_INLINE Complex<double> arc_sine_slope(Complex<double> z) {
    const Factors f = factors_of_one_minus_square(z);
    return reciprocal_square_root(f.below * f.above) * f.down;
}
EP_INLINE Complex<double> area_sine_slope(Complex<double> z) {
    return arc_sine_slope(turned_left(z));
}
// acosh is i acos where im > 0 or +0, else -i acos.
EP_INLINE Complex<double> area_cosine_slope(Complex<double> z) {
    const Complex<double> slope = arc_sine_slope(z);
    const double side = with_sign_of(1.0, z.im);
    return {side * slope.im, -side * slope.re};
}

// sec^2(z) = sech^2(i z) = 4 sigmoid'(2 i z)
EP_INLINE Complex<double> tangent_slope(Complex<double> z) {
    return sigmoid_slope(turned_left(z) * 2.0) * 4.0;
}

// y (1 - y) and (1 - y)(1 + y): sigmoid' and tanh' from their values
EP_INLINE Complex<double> sigmoid_slope_of_value(Complex<double> y) {
    return y * Complex<double>{1 - y.re, -y.im};
}
EP_INLINE Complex<double> hyperbolic_tangent_slope_of_value(Complex<double> y) {
    return Complex<double>{1 - y.re, -y.im} * Complex<double>{1 + y.re, y.im};
}

// dy / conj(1 + z)
EP_INLINE Complex<double> logarithm1p_backward(Complex<double> dy, Complex<double> z) {
    return dy / Complex<double>{1 + z.re, -z.im};
}
// -dy / conj(z)^2
EP_INLINE Complex<double> reciprocal_backward(Complex<double> dy, Complex<double> z) {
    const double down = binade_of(magnitudes(z).greater).down;
    const Complex<double> unit = conjugate(z) * down;
    return -dy / (unit * unit) * down * down;
}
EP_INLINE Complex<double> reciprocal_no_nan_backward(Complex<double> dy, Complex<double> z) {
    const bool is_zero = magnitudes(z).greater == 0;
    const Complex<double> value = reciprocal_backward(dy, z);
    return {is_zero ? 0.0 : value.re, is_zero ? 0.0 : value.im};
}
// -dy / (2 conj(z) sqrt(conj(z)))
EP_INLINE Complex<double> reciprocal_square_root_backward(Complex<double> dy, Complex<double> z) {
    return backward(dy * -0.5, reciprocal_square_root(z)) / conjugate(z);
}
