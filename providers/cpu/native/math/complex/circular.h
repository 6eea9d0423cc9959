// Circular and hyperbolic functions of complex numbers, from the same functions of the parts.
#pragma once

#include "exponential.h"

// cosh(x) and sinh(x) for x >= 0, both times 2^-exponent; the exponent is 0 up to x = 20.
struct Hyperbolic {
    double cosine, sine, exponent;
};
EP_INLINE Hyperbolic hyperbolic(double x) {
    const double small = exponential_minus_one(at_most(x, 20.0)), above = 1 + small, fraction = small / above;
    const Scaled<double> e = exponential_scaled(at_most(x, 1400.0), 0.0);
    const bool is_far = x > 20;
    return {is_far ? 0.5 * e.value : 1 + 0.5 * (small * fraction), is_far ? 0.5 * e.value : 0.5 * (small + fraction),
            is_far ? e.exponent : 0.0};
}

// cosh(re) cos(im), sinh(re) sin(im) and the other two products
EP_INLINE ScaledComplex hyperbolic_cosine_scaled(Complex<double> z) {
    const Hyperbolic re = hyperbolic(absolute_of(z.re));
    const SineCosine<double> im = sine_cosine(z.im);
    return {{re.cosine * im.cosine, with_sign_of(re.sine, z.re) * im.sine}, re.exponent};
}
EP_INLINE ScaledComplex hyperbolic_sine_scaled(Complex<double> z) {
    const Hyperbolic re = hyperbolic(absolute_of(z.re));
    const SineCosine<double> im = sine_cosine(z.im);
    return {{with_sign_of(re.sine, z.re) * im.cosine, re.cosine * im.sine}, re.exponent};
}

EP_INLINE Complex<double> hyperbolic_cosine(Complex<double> z) {
    return scale(hyperbolic_cosine_scaled(z));
}
EP_INLINE Complex<double> hyperbolic_sine(Complex<double> z) {
    return scale(hyperbolic_sine_scaled(z));
}

// For re >= 0 and e = e^(-2 re): (1 - e^2 + 2 i e sin(2 im)) / (1 + 2 e cos(2 im) + e^2). 1 - e and cos(im)^2 replace
// the terms that cancel; where e is small, the real part is 1 minus a small quotient.
EP_INLINE Complex<double> hyperbolic_tangent(Complex<double> z) {
    const double twice = -2 * absolute_of(z.re), e = exponential(twice);
    const double below_one = -exponential_minus_one(twice);
    const SineCosine<double> im = sine_cosine(z.im);
    const double square = im.cosine * im.cosine, norm = fused(below_one, below_one, 4 * e * square);
    const double near = below_one * (1 + e) / norm, far = 1 - 2 * e * (2 * square - below_one) / norm;
    return {with_sign_of(e < 0.25 ? far : near, z.re), 4 * e * (im.sine * im.cosine) / norm};
}

// i z and -i z
EP_INLINE Complex<double> turned_left(Complex<double> z) {
    return {-z.im, z.re};
}
EP_INLINE Complex<double> turned_right(Complex<double> z) {
    return {z.im, -z.re};
}
EP_INLINE ScaledComplex cosine_scaled(Complex<double> z) {
    return hyperbolic_cosine_scaled(turned_left(z));
}
EP_INLINE ScaledComplex sine_scaled(Complex<double> z) {
    const ScaledComplex sine = hyperbolic_sine_scaled(turned_left(z));
    return {turned_right(sine.value), sine.exponent};
}
EP_INLINE Complex<double> cosine(Complex<double> z) {
    return scale(cosine_scaled(z));
}
EP_INLINE Complex<double> sine(Complex<double> z) {
    return scale(sine_scaled(z));
}
EP_INLINE Complex<double> tangent(Complex<double> z) {
    return turned_right(hyperbolic_tangent(turned_left(z)));
}
