// Logarithms of complex numbers. Squared moduli are taken in double-word arithmetic, so that the real part is right
// near |z| = 1 too.
#pragma once

#include "math/logarithm.h"
#include "math/trigonometric.h"
#include "number.h"

EP_INLINE double argument(Complex<double> z) {
    return arc_tangent2(z.im, z.re);
}

// (x + low)^2 + y^2 for x and y whose squares neither overflow nor matter when they underflow.
EP_INLINE DoubleWord<double> sum_of_squares(double x, double low, double y) {
    const DoubleWord<double> a = two_product(x, x), b = two_product(y, y), sum = two_sum(a.high, b.high);
    return two_sum(sum.high, sum.low + ((a.low + b.low) + 2 * x * low));
}

// The exponent of a normal power of two.
EP_INLINE double exponent_of(double power) {
    using F = Float<double>;
    const uint64_t magic = bits_of(F::integer_magic) - F::bias;
    return of_bits<double>(magic + (bits_of(power) >> F::fraction)) - F::integer_magic;
}

EP_INLINE Complex<double> logarithm(Complex<double> z) {
    const Binade<double> binade = binade_of(magnitudes(z).greater);
    const Complex<double> unit = z * binade.down;
    const DoubleWord<double> norm = sum_of_squares(unit.re, 0, unit.im);
    const double twice = logarithm_sum(norm.high, 2 * exponent_of(binade.up), norm.low / norm.high);
    return {0.5 * twice, argument(z)};
}
EP_INLINE Complex<double> logarithm2(Complex<double> z) {
    return logarithm(z) * 1.4426950408889634;
}
EP_INLINE Complex<double> logarithm10(Complex<double> z) {
    return logarithm(z) * 0.43429448190325182;
}

// log(1 + z). Near 0, |1 + z|^2 - 1 = 2 re + |z|^2.
EP_INLINE Complex<double> logarithm1p(Complex<double> z) {
    const DoubleWord<double> re = two_sum(1.0, z.re);
    const Complex<double> above = {re.high, z.im};
    const Binade<double> binade = binade_of(magnitudes(above).greater);
    const Complex<double> unit = above * binade.down;
    const DoubleWord<double> far = sum_of_squares(unit.re, re.low * binade.down, unit.im);

    const bool is_near = magnitudes(z).greater < 0.1;
    const DoubleWord<double> square = two_sum(2 * z.re, fused(z.re, z.re, z.im * z.im));
    const DoubleWord<double> near = two_sum(1.0, square.high);
    const double high = is_near ? near.high : far.high, low = is_near ? near.low + square.low : far.low;
    const double exponent = 2 * exponent_of(binade.up);
    return {0.5 * logarithm_sum(high, is_near ? 0.0 : exponent, low / high), argument(above)};
}
