// Logarithms of complex numbers. Moduli and their logarithms are taken in double-word arithmetic, so that the real part
// is right near |z| = 1 too.

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

// log((x.high + x.low) 2^exponent) for a normal x.high; logarithm() with one more word.
EP_INLINE double logarithm(DoubleWord<double> x, double exponent) {
    using F = Float<double>;
    constexpr uint64_t one = uint64_t{F::bias} << F::fraction;
    const uint64_t bits = bits_of(x.high) + (one - F::sqrt_half), field = bits >> F::fraction;
    const double k = of_bits<double>((bits_of(F::integer_magic) - F::bias) + field) - F::integer_magic;
    const double down = of_bits<double>((uint64_t{2 * F::bias} - field) << F::fraction);
    const double rough = x.high * down - 1, more = x.low * down;
    const double f = rough + more, low = (rough - f) + more, n = k + exponent;
    const double s = f / (2 + f), z = s * s, half_square = 0.5 * f * f;
    const double tail = z * F::log_tail(z, Horner{});
    return fused(n, F::ln2_high, f - (half_square - fused(s, half_square + tail, fused(n, F::ln2_low, low))));
}

// log(1 + x) for x > -1/2
EP_INLINE double logarithm_of_one_plus(double x) {
    return logarithm(two_sum(1.0, x), 0);
}

// atan(t) - t for |t| <= tan(pi / 8); coefficients of FreeBSD's s_atan.c
EP_INLINE double arctangent_tail(double t) {
    const double z = t * t;
    return -t * z *
           Horner{}(z, 1.62858201153657823623e-02, -3.65315727442169155270e-02, 4.97687799461593236017e-02,
                    -5.83357013379057348645e-02, 6.66107313738753120669e-02, -7.69187620504482999495e-02,
                    9.09088713343650656196e-02, -1.11111104054623557880e-01, 1.42857142725034663711e-01,
                    -1.99999999998764832476e-01, 3.33333333333329318027e-01);
}

// The angle of z in [-pi, pi], with the sign of im; with parts 0 as C's atan2 has it.
EP_INLINE double argument(Complex<double> z) {
    const double x = absolute_of(z.re), y = absolute_of(z.im);
    const double greater = x < y ? y : x, lesser = x < y ? x : y;
    const bool is_diagonal = lesser > greater * 0.41421356237309503;
    const double over = is_diagonal ? lesser - greater : lesser, under = is_diagonal ? lesser + greater : greater;
    const double t = over / (under == 0 ? 1 : under), tail = arctangent_tail(t);
    // The angle is eighths * pi/4 + sign * atan(t).
    const bool is_left = with_sign_of(1.0, z.re) < 0;
    const double in_octant = is_diagonal ? 1 : 0;
    const double in_quadrant = x < y ? 2 - in_octant : in_octant, sign = (x < y) != is_left ? -1 : 1;
    const double eighths = is_left ? 4 - in_quadrant : in_quadrant;
    // pi/4 rounded, whose multiples by 0, 1, 2 and 4 are exact, 3 to its last bit
    constexpr double high = 7.85398163397448278999e-01, low = 3.06161699786838301793e-17;
    const DoubleWord<double> base = two_product(eighths, high);
    const DoubleWord<double> sum = two_sum(base.high, sign * t);
    const double angle = sum.high + (sum.low + fused(sign, tail, fused(eighths, low, base.low)));
    return with_sign_of(angle, z.im);
}

EP_INLINE Complex<double> logarithm(Complex<double> z) {
    const Binade<double> binade = binade_of(magnitudes(z).greater);
    const Complex<double> unit = z * binade.down;
    const DoubleWord<double> norm = sum_of_squares(unit.re, 0, unit.im);
    const double twice = logarithm(norm, 2 * exponent_of(binade.up));
    const double re = norm.high == 0 ? -std::numeric_limits<double>::infinity() : 0.5 * twice;
    return {re, argument(z)};
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
    const DoubleWord<double> square = two_sum(2 * z.re, fused(z.re, z.re, z.im * z.im)),
                             near = two_sum(1.0, square.high);
    const DoubleWord<double> norm = {is_near ? near.high : far.high, is_near ? near.low + square.low : far.low};
    const double twice = logarithm(norm, is_near ? 0 : 2 * exponent_of(binade.up));
    return {norm.high == 0 ? -std::numeric_limits<double>::infinity() : 0.5 * twice, argument(above)};
}
