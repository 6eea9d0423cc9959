// exp, log, tanh and expm1, one text for every device, without the vendor's library: within the rows' bounds, free
// of branches, so that compilers for CPUs make vectors of it, and the same bits everywhere. README.md has the errors.

#define EP_WITH_SIGN(T, top)                                                    \
    EP_FN ep_##T ep_with_sign_##T(ep_##T size, ep_##T sign) {                   \
        return ep_##T##_of_bits(ep_bits_##T(size) | (ep_bits_##T(sign) & top)); \
    }
EP_WITH_SIGN(f32, 0x80000000u)

// e^r - 1 for |r| <= 0.36; the polynomial is a Chebyshev fit of (e^r - 1 - r) / r^2 made with 60 digits, off by
// 2^-31.6.
EP_FN ep_f32 ep_small_expm1_f32(ep_f32 r) {
    ep_f32 p = 0.000198949128f;
    p = p * r + 0.00139371818f;
    p = p * r + 0.00833330769f;
    p = p * r + 0.0416664332f;
    p = p * r + 0.166666672f;
    p = p * r + 0.5f;
    return r + r * r * p;
}

// The whole number next to x; adding the large one leaves it in the low bits.
EP_FN ep_f32 ep_whole_f32(ep_f32 x) {
    return (x + 12582912.0f) - 12582912.0f;
}

EP_FN ep_f32 ep_remainder_f32(ep_f32 x, ep_f32 n) {
    return (x - n * 6.9314575195e-01f) - n * 1.4286067653e-06f;
}

// 2^n for a whole n within the normal exponents.
EP_FN ep_f32 ep_power_of_two_f32(ep_f32 n) {
    return ep_f32_of_bits(ep_bits_f32(n + 12583039.0f) << 23);
}

// The logarithm as FreeBSD's e_logf.c has it: x = 2^k (1 + f), s = f / (2 + f), coefficients in s^2.
// ep_ordinary_log takes 2^up x for a positive finite x, such that it is normal.
EP_FN ep_f32 ep_ordinary_log_f32(ep_f32 x, int up) {
    const ep_u32 bits = ep_bits_f32(x) + 0x004afb0du;
    const ep_f32 k = (ep_f32)((ep_i32)(bits >> 23) - (127 + up));
    const ep_f32 f = ep_f32_of_bits((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    const ep_f32 s = f / (2.0f + f), z = s * s, half_square = 0.5f * f * f;
    ep_f32 p = 0.24279078841f;
    p = p * z + 0.28498786688f;
    p = p * z + 0.40000972152f;
    p = p * z + 0.66666662693f;
    const ep_f32 low = s * (half_square + p * z) + k * 9.0580006145e-06f;
    return k * 6.9313812256e-01f - ((half_square - low) - f);
}
EP_FN ep_f32 ep_log_f32(ep_f32 x) {
    const int is_small = x < 1.17549435e-38f;
    const ep_f32 y = ep_ordinary_log_f32(is_small ? x * 33554432.0f : x, is_small ? 25 : 0);
    return x > 0 ? (x < EP_INF ? y : x) : x == 0 ? -EP_INF : x != x ? x : EP_NAN;
}

#if EP_HAS_F64
EP_WITH_SIGN(f64, 0x8000000000000000ul)

// Off by 2^-61.2.
EP_FN ep_f64 ep_small_expm1_f64(ep_f64 r) {
    ep_f64 p = 2.091767738180507e-09;
    p = p * r + 2.5109404672957823e-08;
    p = p * r + 2.7557266175047446e-07;
    p = p * r + 2.7557244942221745e-06;
    p = p * r + 2.4801587331670256e-05;
    p = p * r + 0.00019841269883394329;
    p = p * r + 0.0013888888888881927;
    p = p * r + 0.0083333333333235841;
    p = p * r + 0.041666666666666671;
    p = p * r + 0.16666666666666674;
    p = p * r + 0.5;
    return r + r * r * p;
}

EP_FN ep_f64 ep_whole_f64(ep_f64 x) {
    return (x + 6755399441055744.0) - 6755399441055744.0;
}

EP_FN ep_f64 ep_remainder_f64(ep_f64 x, ep_f64 n) {
    return (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
}

EP_FN ep_f64 ep_power_of_two_f64(ep_f64 n) {
    return ep_f64_of_bits(ep_bits_f64(n + 6755399441056767.0) << 52);
}

EP_FN ep_f64 ep_ordinary_log_f64(ep_f64 x, int up) {
    const ep_u64 bits = ep_bits_f64(x) + 0x00095f619980c433ul;
    const ep_f64 k = (ep_f64)((ep_i32)(bits >> 52) - (1023 + up));
    const ep_f64 f = ep_f64_of_bits((bits & 0x000ffffffffffffful) + 0x3fe6a09e667f3bcdul) - 1.0;
    const ep_f64 s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f;
    ep_f64 p = 1.479819860511658591e-01;
    p = p * z + 1.531383769920937332e-01;
    p = p * z + 1.818357216161805012e-01;
    p = p * z + 2.222219843214978396e-01;
    p = p * z + 2.857142874366239149e-01;
    p = p * z + 3.999999999940941908e-01;
    p = p * z + 6.666666666666735130e-01;
    const ep_f64 low = s * (half_square + p * z) + k * 1.90821492927058770002e-10;
    return k * 6.93147180369123816490e-01 - ((half_square - low) - f);
}
EP_FN ep_f64 ep_log_f64(ep_f64 x) {
    const int is_small = x < 2.2250738585072014e-308;
    const ep_f64 y = ep_ordinary_log_f64(is_small ? x * 18014398509481984.0 : x, is_small ? 54 : 0);
    return x > 0 ? (x < (ep_f64)EP_INF ? y : x) : x == 0 ? -(ep_f64)EP_INF : x != x ? x : (ep_f64)EP_NAN;
}
#endif

// From `low` on down e^x is zero, from `high` on up infinite. Two factors reach every subnormal with one rounding.
// expm1 serves x from -infinity to some tens, which is all that elu and tanh ask for.
#define EP_EXPONENTIALS(T, low, high, flat)                                                                    \
    EP_FN ep_##T ep_exp_##T(ep_##T x) {                                                                        \
        const ep_##T y = x > (ep_##T)high ? (ep_##T)high : x < (ep_##T)low ? (ep_##T)low : x;                  \
        const ep_##T n = ep_whole_##T(y * (ep_##T)1.4426950408889634), half_n = ep_whole_##T(n * (ep_##T)0.5); \
        const ep_##T value = 1 + ep_small_expm1_##T(ep_remainder_##T(y, n));                                   \
        return value * ep_power_of_two_##T(half_n) * ep_power_of_two_##T(n - half_n);                          \
    }                                                                                                          \
    EP_FN ep_##T ep_expm1_##T(ep_##T x) {                                                                      \
        const ep_##T y = x < (ep_##T)flat ? (ep_##T)flat : x;                                                  \
        const ep_##T n = ep_whole_##T(y * (ep_##T)1.4426950408889634), factor = ep_power_of_two_##T(n);        \
        const ep_##T value = factor * ep_small_expm1_##T(ep_remainder_##T(y, n)) + (factor - 1);               \
        return x == 0 ? x : value;                                                                             \
    }                                                                                                          \
    EP_FN ep_##T ep_tanh_##T(ep_##T x) {                                                                       \
        const ep_##T t = ep_expm1_##T(-2 * ep_abs(x));                                                         \
        return ep_with_sign_##T(ep_abs(t / (2 + t)), x);                                                       \
    }
EP_EXPONENTIALS(f32, -104.0, 89.0, -40.0)
#if EP_HAS_F64
EP_EXPONENTIALS(f64, -746.0, 710.0, -80.0)
#endif
