// Exponentials of complex numbers: e^re (cos im + i sin im).

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

// 2^z: the exponent is the integer nearest re, and im ln 2 is taken in two words, the
// lower of which is small for |im| <= 2^40.
EP_INLINE ScaledComplex exponential2_scaled(Complex<double> z) {
    constexpr double ln2 = 0.69314718055994529, ln2_low = 2.3190468138462996e-17;
    const double x = at_least(at_most(z.re, 2000.0), -2000.0), n = nearest_integer(x);
    const Scaled<double> e = exponential_scaled((x - n) * ln2, 0.0);
    const DoubleWord<double> angle = two_product(z.im, ln2);
    const double low = fused(z.im, ln2_low, angle.low);
    const SineCosine<double> near = sine_cosine(angle.high);
    const double turn = low - low * low * low * (1.0 / 6), versine = 0.5 * low * low;
    const double sine = near.sine + fused(turn, near.cosine, -versine * near.sine);
    const double cosine = near.cosine - fused(turn, near.sine, versine * near.cosine);
    return {{e.value * cosine, e.value * sine}, n + e.exponent};
}
EP_INLINE Complex<double> exponential2(Complex<double> z) {
    return scale(exponential2_scaled(z));
}

// re = expm1(re z) cos(im z) - (1 - cos(im z)), which loses nothing that im does not outweigh.
EP_INLINE Complex<double> exponential_minus_one(Complex<double> z) {
    const Scaled<double> e = exponential_scaled(at_least(at_most(z.re, 1400.0), -1400.0), 0.0);
    const SineCosine<double> angle = sine_cosine(z.im);
    const double small = exponential_minus_one(at_least(at_most(z.re, 40.0), -40.0));
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
    const double x = -absolute_of(z.re), e = exponential(x), below_one = exponential_minus_one(at_least(x, -40.0));
    const SineCosine<double> angle = sine_cosine(z.im);
    const double small = angle.sine * angle.sine / (1 + absolute_of(angle.cosine));  // 1 + cos(im) in the left half
    const bool is_left = angle.cosine < 0;
    const double one = is_left ? fused(e, small, -below_one) : fused(e, angle.cosine, 1.0);
    const double both = is_left ? small + below_one : angle.cosine + e;
    return {{one, e * angle.sine}, {e * both, e * angle.sine}, fused(one, one, (e * angle.sine) * (e * angle.sine))};
}

// 1 / (1 + e^-z)
EP_INLINE Complex<double> sigmoid(Complex<double> z) {
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
