// Square roots of complex numbers, and other functions that need no elementary function.
#pragma once

#include "number.h"

// z / |z|, 0 at 0.
EP_INLINE Complex<double> sign(Complex<double> z) {
    const double greater = magnitudes(z).greater;
    const Complex<double> unit = z * binade_of(greater).down;
    const double norm = square_root(fused(unit.re, unit.re, unit.im * unit.im)), divisor = greater == 0 ? 1 : norm;
    return {unit.re / divisor, unit.im / divisor};
}

EP_INLINE Complex<double> reciprocal_no_nan(Complex<double> z) {
    const bool is_zero = magnitudes(z).greater == 0;
    const Complex<double> value = reciprocal(z);
    return {is_zero ? 0.0 : value.re, is_zero ? 0.0 : value.im};
}

// z = 4^k unit with 1 <= max(|re unit|, |im unit|) < 4: the principal square root of unit, |unit| and 2^k.
struct Root {
    Complex<double> value;
    double modulus, up, down;
};
EP_INLINE Root root_of(Complex<double> z) {
    using F = Float<double>;
    const uint64_t exponent = bits_of(binade_of(magnitudes(z).greater).up) >> F::fraction;
    const uint64_t half = (exponent + F::bias) >> 1;
    const double up = of_bits<double>(half << F::fraction);
    const double down = of_bits<double>((2 * F::bias - half) << F::fraction);
    const Complex<double> unit = {z.re * down * down, z.im * down * down};
    const double modulus = square_root(fused(unit.re, unit.re, unit.im * unit.im));
    // |re| and |modulus| are added, so nothing cancels; the other part follows from re im = im unit / 2.
    const double greater = square_root(0.5 * (absolute_of(unit.re) + modulus));
    const double lesser = 0.5 * absolute_of(unit.im) / (greater == 0 ? 1 : greater);
    const bool is_left = unit.re < 0;
    return {{is_left ? lesser : greater, with_sign_of(is_left ? greater : lesser, z.im)}, modulus, up, down};
}

EP_INLINE Complex<double> square_root(Complex<double> z) {
    const Root root = root_of(z);
    return root.value * root.up;
}

// conj(sqrt(z)) / |z|
EP_INLINE Complex<double> reciprocal_square_root(Complex<double> z) {
    const Root root = root_of(z);
    return {root.value.re / root.modulus * root.down, -root.value.im / root.modulus * root.down};
}
