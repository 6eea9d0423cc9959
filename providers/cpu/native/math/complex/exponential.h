// Exponentials of complex numbers: e^re (cos im + i sin im).
#pragma once

#include "math/exponential.h"
#include "math/trigonometric.h"
#include "number.h"

// A complex number times 2^exponent, so that a factor may come in before it overflows or underflows.
struct ScaledComplex {
    Complex<double> value;
    double exponent;
};
EP_INLINE Complex<double> scale(ScaledComplex z) {
    return {scale(z.value.re, z.exponent), scale(z.value.im, z.exponent)};
}

EP_INLINE ScaledComplex exponential_scaled(Complex<double> z) {
    const Scaled<double> e = exponential_scaled(at_least(at_most(z.re, 1400.0), -1400.0), 0.0);
    const SineCosine<double> angle = sine_cosine(z.im);
    return {{e.value * angle.cosine, e.value * angle.sine}, e.exponent};
}
EP_INLINE Complex<double> exponential(Complex<double> z) {
    return scale(exponential_scaled(z));
}

// Of an angle in two words, the lower of which is small for a high one up to some 2^40.
EP_INLINE SineCosine<double> sine_cosine(DoubleWord<double> x) {
    const SineCosine<double> near = sine_cosine(x.high);
    const double square = x.low * x.low, turn = fused(square * x.low, -1.0 / 6, x.low), versine = 0.5 * square;
    return {near.sine + fused(turn, near.cosine, -versine * near.sine),
            near.cosine - fused(turn, near.sine, versine * near.cosine)};
}

// 2^z, the angle being im ln 2 in two words.
EP_INLINE ScaledComplex exponential2_scaled(Complex<double> z) {
    constexpr double ln2 = 0.69314718055994529, ln2_low = 2.3190468138462996e-17;
    const Scaled<double> e = exponential2_scaled(at_least(at_most(z.re, 2000.0), -2000.0));
    const DoubleWord<double> product = two_product(z.im, ln2);
    const SineCosine<double> angle = sine_cosine(DoubleWord<double>{product.high, fused(z.im, ln2_low, product.low)});
    return {{e.value * angle.cosine, e.value * angle.sine}, e.exponent};
}
EP_INLINE Complex<double> exponential2(Complex<double> z) {
    return scale(exponential2_scaled(z));
}

// re = expm1(re z) cos(im z) - (1 - cos(im z)), which loses nothing that im does not outweigh.
EP_INLINE Complex<double> exponential_minus_one(Complex<double> z) {
    const Scaled<double> e = exponential_scaled(at_least(at_most(z.re, 1400.0), -1400.0), 0.0);
    const SineCosine<double> angle = sine_cosine(z.im);
    const double small = exponential_minus_one(z.re);
    const double below_one = angle.sine * angle.sine / (1 + absolute_of(angle.cosine));  // 1 - |cos|
    const double versine = angle.cosine < 0 ? 2 - below_one : below_one;
    const double near = fused(small, angle.cosine, -versine), far = scale(e.value * angle.cosine, e.exponent);
    return {z.re > 40 ? far : near, scale(e.value * angle.sine, e.exponent)};
}

// Where re <= 0, sigmoid(z) = e^z / (1 + e^z); with e = e^-|re|, 1 + e e^(i im) and conj of it times e e^(i im) come
// without cancellation from 1 - e and 1 + cos(im). norm is the square of the modulus of the former.
struct Logistic {
    Complex<double> denominator, numerator;
    double norm;
};
EP_INLINE Logistic logistic_of(Complex<double> z) {
    const double x = -absolute_of(z.re), e = exponential(x), below_one = exponential_minus_one(x);
    const SineCosine<double> angle = sine_cosine(z.im);
    const double small = angle.sine * angle.sine / (1 + absolute_of(angle.cosine));  // 1 + cos(im) in the left half
    const bool is_left = angle.cosine < 0;
    const double one = is_left ? fused(e, small, -below_one) : fused(e, angle.cosine, 1.0);
    const double both = is_left ? small + below_one : angle.cosine + e;
    return {{one, e * angle.sine}, {e * both, e * angle.sine}, fused(one, one, (e * angle.sine) * (e * angle.sine))};
}

// 1 / (1 + e^-z)
EP_INLINE Complex<double> sigmoid_of(Complex<double> z) {
    const Logistic s = logistic_of(z);
    const double re = z.re < 0 ? s.numerator.re : s.denominator.re;
    return {re / s.norm, s.denominator.im / s.norm};
}

// sigmoid(z) (1 - sigmoid(z)), an even function
EP_INLINE Complex<double> sigmoid_slope(Complex<double> z) {
    const Logistic s = logistic_of(z);
    const Complex<double> value = s.numerator * conjugate(s.denominator);
    return {value.re / s.norm / s.norm, (z.re < 0 ? value.im : -value.im) / s.norm / s.norm};
}
