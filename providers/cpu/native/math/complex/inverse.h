// Inverse circular and hyperbolic functions of complex numbers, by the formulas of Kahan, Branch Cuts for Complex
// Elementary Functions (1987): the parts come from square roots without cancellation, and every cut has two sides.
#pragma once

#include "circular.h"
#include "logarithm.h"
#include "math/hyperbolic.h"
#include "root.h"

// sqrt(1 - z) and sqrt(1 + z)
struct Sides {
    Complex<double> below, above;
};
EP_INLINE Sides sides_of(Complex<double> z) {
    return {square_root(Complex<double>{1 - z.re, -z.im}), square_root(Complex<double>{1 + z.re, z.im})};
}

EP_INLINE Complex<double> arc_sine(Complex<double> z) {
    const Sides s = sides_of(z);
    const double re = s.below.re * s.above.re - s.below.im * s.above.im;
    const double im = s.below.re * s.above.im - s.below.im * s.above.re;
    return {argument(Complex<double>{re, z.re}), area_sine(im)};
}
EP_INLINE Complex<double> arc_cosine(Complex<double> z) {
    const Sides s = sides_of(z);
    const double im = s.above.re * s.below.im - s.above.im * s.below.re;
    return {2 * argument(Complex<double>{s.above.re, s.below.re}), area_sine(im)};
}
// +-i acos(z), the sign being that which makes the real part positive
EP_INLINE Complex<double> area_cosine(Complex<double> z) {
    const Complex<double> angle = arc_cosine(z);
    return {absolute_of(angle.im), with_sign_of(angle.re, z.im)};
}
EP_INLINE Complex<double> area_sine(Complex<double> z) {
    return turned_right(arc_sine(turned_left(z)));
}

// re = log(1 + 4 |x| / ((1 - |x|)^2 + y^2)) / 4, im = atan2(2 y, (1 - |x|)(1 + |x|) - y^2) / 2
EP_INLINE Complex<double> area_tangent(Complex<double> z) {
    const double far = 0x1p500;
    const double down = magnitudes(z).greater > far ? 1 / far : 1;  // where re is nothing next to im
    const double x = absolute_of(z.re) * down, y = z.im * down, below = 1 - x;
    const bool is_pole = (below == 0) & (absolute_of(y) < 1 / far);
    const double up = is_pole ? far : 1;
    const double ratio = 4 * x / fused(below, below, (y * up) * (y * up));
    const DoubleWord<double> sum = two_sum(is_pole ? 0.0 : 1.0, ratio);
    const double re = 0.25 * logarithm_sum(sum.high, is_pole ? 1000.0 : 0.0, sum.low / sum.high);
    const double im = 0.5 * argument(Complex<double>{fused(below, 1 + x, -y * y), 2 * y});
    return {with_sign_of(re, z.re), im};
}
EP_INLINE Complex<double> arc_tangent(Complex<double> z) {
    return turned_right(area_tangent(turned_left(z)));
}
