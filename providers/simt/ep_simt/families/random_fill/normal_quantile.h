// The quantile function of the standard normal distribution: by a rational function of q^2, q = u - 1/2, for |q| <=
// 3/8, and of sqrt(-log t) for the tails, t = min(u, 1 - u). The method is Wichura's (AS 241, 1988); the coefficients
// interpolate at Chebyshev points, made with 60 digits, and are off by 2^-30 and 2^-25.8 in f32, 2^-58 and 2^-56 in
// f64.

// y = 9/64 - q^2, r = sqrt(-log t) - 23/16; one division, of whichever numerator and denominator it is.
EP_FN ep_f32 ep_normal_quantile_f32(ep_f32 q, ep_f32 t) {
    const ep_f32 y = 0.140625f - q * q, r = ep_sqrt(-ep_ordinary_log_f32(t, 0)) - 1.4375f;
    ep_f32 a = -6.88445214f, b = 51.964201f, c = 0.0455011945f, d = 0.0321626081f;
    a = a * y + 55.7440549f;
    a = a * y + 106.279455f;
    a = a * y + 36.0609099f;
    a = a * y + 3.06759835f;
    b = b * y + 53.4341475f;
    b = b * y + 13.8304127f;
    b = b * y + 1.0f;
    c = c * r + 0.591609854f;
    c = c * r + 2.25742625f;
    c = c * r + 3.04761775f;
    c = c * r + 1.1424184f;
    d = d * r + 0.372811373f;
    d = d * r + 1.13350831f;
    d = d * r + 1.0f;
    const int is_middle = ep_abs(q) <= 0.375f;
    return (is_middle ? q : ep_with_sign_f32(1.0f, q)) * ((is_middle ? a : c) / (is_middle ? b : d));
}

#if EP_HAS_F64
EP_FN ep_f64 ep_normal_quantile_f64(ep_f64 q, ep_f64 t) {
    const ep_f64 y = 0.140625 - q * q, r = ep_sqrt(-ep_ordinary_log_f64(t, 0)) - 1.4375;
    ep_f64 a = 214.53625462624835, b = 493.29759639136824, c = 1.0752638003760694e-6, d = 7.6031869040642354e-7;
    a = a * y + 3676.0441926096698;
    a = a * y + 9872.530390746528;
    a = a * y + 9291.4701827814534;
    a = a * y + 3933.0263048812378;
    a = a * y + 816.37399636655803;
    a = a * y + 81.016575037689515;
    a = a * y + 3.0675983476693551;
    b = b * y + 3495.9623313285493;
    b = b * y + 6397.5621723796869;
    b = b * y + 4763.5672459217634;
    b = b * y + 1714.1125162983854;
    b = b * y + 315.32531211707934;
    b = b * y + 28.485416964449508;
    b = b * y + 1.0;
    c = c * r + 9.2710581420417954e-5;
    c = c * r + 0.0026602229840312484;
    c = c * r + 0.0364876655202619;
    c = c * r + 0.28107993183504992;
    c = c * r + 1.3200921052857143;
    c = c * r + 3.9103881169400519;
    c = c * r + 7.2744700963542972;
    c = c * r + 8.1172527499375988;
    c = c * r + 4.8467714358534882;
    c = c * r + 1.14241837889852;
    d = d * r + 6.4465925647595473e-5;
    d = d * r + 0.0017908702508731155;
    d = d * r + 0.023386272910943179;
    d = d * r + 0.16869382487341972;
    d = d * r + 0.72836828649998521;
    d = d * r + 1.9332528481896316;
    d = d * r + 3.086006975924375;
    d = d * r + 2.7083716580377488;
    d = d * r + 1.0;
    const int is_middle = ep_abs(q) <= 0.375;
    return (is_middle ? q : ep_with_sign_f64(1.0, q)) * ((is_middle ? a : c) / (is_middle ? b : d));
}
#endif
