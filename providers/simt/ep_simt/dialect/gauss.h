// The normal distribution, for gelu and its derivative.
//
// phi(t) = Phi(-t) e^(t^2/2) falls smoothly from 1/2, so
// that both tails of the normal distribution keep their digits; its polynomials in u = (t - K) / (t + K) give
// (t + K) phi(t) and are Chebyshev fits made with 60 digits, off by 2^-27.9 (f32, K = 4) and 2^-54.2 (f64, K = 5).

EP_FN ep_f32 ep_tail_ratio_f32(ep_f32 t) {
    const ep_f32 u = (t - 4.0f) / (t + 4.0f);
    ep_f32 p = 2.19790436e-05f;
    p = p * u - 1.72599232e-06f;
    p = p * u - 0.00021777107f;
    p = p * u + 0.000133640424f;
    p = p * u + 0.00162424764f;
    p = p * u - 0.00347994291f;
    p = p * u - 0.00753868883f;
    p = p * u + 0.0603966452f;
    p = p * u - 0.186521992f;
    p = p * u + 0.387137383f;
    p = p * u - 0.607896626f;
    p = p * u + 0.755285144f;
    return p / (t + 4.0f);
}

// e^(-t^2/2): the square of the upper half of t is exact, and the rest is small.
EP_FN ep_f32 ep_bell_f32(ep_f32 t) {
    const ep_f32 high = ep_f32_of_bits(ep_bits_f32(t) & 0xfffff000u);
    return ep_exp_f32(-0.5f * high * high) * (1.0f + ep_small_expm1_f32(-0.5f * (t - high) * (t + high)));
}

#if EP_HAS_F64
EP_FN ep_f64 ep_tail_ratio_f64(ep_f64 t) {
    const ep_f64 u = (t - 5.0) / (t + 5.0);
    ep_f64 p = -8.1661926244289744e-10;
    p = p * u + 5.037302126379868e-10;
    p = p * u + 9.4468275196773609e-09;
    p = p * u - 5.0156499398578625e-09;
    p = p * u - 6.7825553132911547e-08;
    p = p * u + 3.5818400515432246e-08;
    p = p * u + 4.3402625948297751e-07;
    p = p * u - 3.3106980715268621e-07;
    p = p * u - 2.769337871043854e-06;
    p = p * u + 3.9779126405932421e-06;
    p = p * u + 1.6681099115863468e-05;
    p = p * u - 4.9761771189792181e-05;
    p = p * u - 5.9375673286488655e-05;
    p = p * u + 0.00054489883090093002;
    p = p * u - 0.00079786940948080635;
    p = p * u - 0.0029933767382232198;
    p = p * u + 0.020795066800941616;
    p = p * u - 0.069118638708814323;
    p = p * u + 0.16502036617034282;
    p = p * u - 0.31353315667121379;
    p = p * u + 0.4953056159699768;
    p = p * u - 0.66538250289005774;
    p = p * u + 0.76919304975006297;
    return p / (t + 5.0);
}

EP_FN ep_f64 ep_bell_f64(ep_f64 t) {
    const ep_f64 high = ep_f64_of_bits(ep_bits_f64(t) & 0xfffffffff8000000ul);
    return ep_exp_f64(-0.5 * high * high) * (1.0 + ep_small_expm1_f64(-0.5 * (t - high) * (t + high)));
}
#endif

// x Phi(x) and its derivative Phi(x) + x phi(x). Beyond 40 the tail is zero in every type, and infinities stay out.
#define EP_GAUSSIAN_LINEAR_UNIT(T)                                                \
    EP_FN ep_##T ep_gelu_##T(ep_##T x) {                                          \
        const ep_##T size = ep_abs(x), t = size > (ep_##T)40 ? (ep_##T)40 : size; \
        const ep_##T rest = t * (ep_bell_##T(t) * ep_tail_ratio_##T(t));          \
        return x > (ep_##T)0 ? x - rest : x < (ep_##T)0 ? -rest : x;              \
    }                                                                             \
    EP_FN ep_##T ep_gelu_slope_##T(ep_##T x) {                                    \
        const ep_##T size = ep_abs(x), t = size > (ep_##T)40 ? (ep_##T)40 : size; \
        const ep_##T bell = ep_bell_##T(t), tail = bell * ep_tail_ratio_##T(t);   \
        const ep_##T density = t * ((ep_##T)0.39894228040143267794 * bell);       \
        return x > (ep_##T)0 ? (1 - tail) + density : tail - density;             \
    }
EP_GAUSSIAN_LINEAR_UNIT(f32)
#if EP_HAS_F64
EP_GAUSSIAN_LINEAR_UNIT(f64)
#endif
