// Powers of complex numbers. An error of the exponent b log(a) becomes one of the result as many times its own size, so
// the logarithm is taken in two words.
#pragma once

#include "exponential.h"
#include "logarithm.h"
#include "math/power.h"

// atan(j / 8) in two words; j is at most 8, and anything below 16 where z has a NaN.
struct EighthArcs {
    double high[16], low[16];
};
constexpr EighthArcs EIGHTH_ARCS = {
    {0.0, 0.12435499454676144, 0.24497866312686414, 0.35877067027057225, 0.4636476090008061, 0.5585993153435624,
     0.6435011087932844, 0.7188299996216245, 0.7853981633974483},
    {0.0, -3.1253241424539383e-18, 1.0698755618734451e-17, -2.4623815582638635e-17, 2.2698777452961687e-17,
     -5.4556305485916264e-18, 1.5834785051444286e-17, -2.1478388444456983e-17, 3.061616997868383e-17},
};

// The angle of z, to some 2^-62 of itself. atan(t) is atan(j / 8) + atan((t - j / 8) / (1 + t j / 8)).
EP_INLINE DoubleWord<double> argument_in_two(Complex<double> z) {
    using F = Float<double>;
    using Words = DoubleWord<double>;
    const double a = absolute_of(z.re), b = absolute_of(z.im);
    const bool is_steep = b > a, is_left = with_sign_of(1.0, z.re) < 0;
    const double most = is_steep ? b : a, least = is_steep ? a : b;
    const double eighths = 8 * least / (most == 0 ? 1 : most) + F::integer_magic,
                 c = 0.125 * (eighths - F::integer_magic);
    const auto j = static_cast<int64_t>(bits_of(eighths) & 15);

    const Words p = two_product(c, most), q = two_product(c, least);
    const Words d = two_sum(least, -p.high), s = two_sum(most == 0 ? 1 : most, q.high);
    const Words over = fast_two_sum(d.high, d.low - p.low), under = fast_two_sum(s.high, s.low + q.low);
    const double t = over.high / under.high;
    const Words product = two_product(t, under.high);
    const double rest = ((over.high - product.high) - product.low) + (over.low - t * under.low);
    const double z2 = t * t;
    const double series = Horner{}(z2, -1.0 / 15, 1.0 / 13, -1.0 / 11, 1.0 / 9, -1.0 / 7, 1.0 / 5, -1.0 / 3);
    const Words sum = fast_two_sum(EIGHTH_ARCS.high[j], t);
    const double low = sum.low + (EIGHTH_ARCS.low[j] + (rest / under.high + t * (z2 * series)));

    const double quarters = is_steep ? 1 : (is_left ? 2 : 0), sign = is_steep != is_left ? -1 : 1;
    const Words turned = two_sum(quarters * F::half_pi_high, sign * sum.high);
    const Words angle = fast_two_sum(turned.high, turned.low + fused(quarters, F::half_pi_low, sign * low));
    const double side = with_sign_of(1.0, z.im);
    return {side * angle.high, side * angle.low};
}

// a b + c d in two words.
EP_INLINE DoubleWord<double> inner_product(double a, DoubleWord<double> b, double c, DoubleWord<double> d) {
    const DoubleWord<double> p = two_product(a, b.high), q = two_product(c, d.high), sum = two_sum(p.high, q.high);
    return fast_two_sum(sum.high, sum.low + ((p.low + q.low) + fused(a, b.low, c * d.low)));
}

// e^(b log(a)); 0^b is 1 where b is 0, 0 where re b > 0, and else NaN.
EP_INLINE Complex<double> power(Complex<double> a, Complex<double> b) {
    using F = Float<double>;
    const double greater = magnitudes(a).greater;
    const Binade<double> binade = binade_of(greater);
    const bool is_inside = (greater > 0x1p-200) & (greater < 0x1p200);  // where squares need no scaling
    const Complex<double> unit = a * (is_inside ? 1.0 : binade.down);
    const double exponent = exponent_of(binade.up), twice = is_inside ? 0.0 : exponent + exponent;
    const DoubleWord<double> norm = sum_of_squares(unit.re, 0, unit.im), near = logarithm_in_two(norm.high);
    const DoubleWord<double> sum = two_sum(twice * F::ln2_high, near.high);
    const double rest = sum.low + fused(twice, F::ln2_low, near.low + norm.low / norm.high);
    const DoubleWord<double> log = {0.5 * sum.high, 0.5 * rest}, angle = argument_in_two(unit);

    const DoubleWord<double> re = inner_product(b.re, log, -b.im, angle), im = inner_product(b.re, angle, b.im, log);
    const bool is_finite = absolute_of(re.high) < 1400;
    const Scaled<double> size =
        exponential_scaled(at_least(at_most(re.high, 1400.0), -1400.0), is_finite ? re.low : 0.0);
    const SineCosine<double> turn = sine_cosine(im);
    const Complex<double> value =
        scale(ScaledComplex{{size.value * turn.cosine, size.value * turn.sine}, size.exponent});

    const bool is_zero = greater == 0, is_one = (b.re == 0) & (b.im == 0);
    const double none = b.re > 0 ? 0 : std::numeric_limits<double>::quiet_NaN(), of_zero = is_one ? 1 : none;
    return {is_zero ? of_zero : value.re, is_zero ? of_zero * 0 : value.im};
}
