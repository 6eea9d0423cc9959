// The quantile function of the standard normal distribution: by a rational function of q^2, q = u - 1/2, for |q| <=
// 3/8, and of sqrt(-log t) for the tails, t = min(u, 1 - u). The method is Wichura's (AS 241, 1988); the coefficients
// interpolate at Chebyshev points, made with 60 digits, and are off by 2^-30 and 2^-25.8 in float, 2^-58 and 2^-56 in
// double.
#pragma once

#include "logarithm.h"

template <class T>
struct Quotient {
    T above, below;
};

// y = 9/64 - q^2
EP_INLINE Quotient<float> middle_quotient(float y) {
    return {Horner{}(y, -6.88445214F, 55.7440549F, 106.279455F, 36.0609099F, 3.06759835F),
            Horner{}(y, 51.964201F, 53.4341475F, 13.8304127F, 1.0F)};
}
EP_INLINE Quotient<double> middle_quotient(double y) {
    return {Horner{}(y, 214.53625462624835, 3676.0441926096698, 9872.530390746528, 9291.4701827814534,
                     3933.0263048812378, 816.37399636655803, 81.016575037689515, 3.0675983476693551),
            Horner{}(y, 493.29759639136824, 3495.9623313285493, 6397.5621723796869, 4763.5672459217634,
                     1714.1125162983854, 315.32531211707934, 28.485416964449508, 1.0)};
}

// r = sqrt(-log t) - 23/16
EP_INLINE Quotient<float> tail_quotient(float r) {
    return {Horner{}(r, 0.0455011945F, 0.591609854F, 2.25742625F, 3.04761775F, 1.1424184F),
            Horner{}(r, 0.0321626081F, 0.372811373F, 1.13350831F, 1.0F)};
}
EP_INLINE Quotient<double> tail_quotient(double r) {
    return {Horner{}(r, 1.0752638003760694e-6, 9.2710581420417954e-5, 0.0026602229840312484, 0.0364876655202619,
                     0.28107993183504992, 1.3200921052857143, 3.9103881169400519, 7.2744700963542972,
                     8.1172527499375988, 4.8467714358534882, 1.14241837889852),
            Horner{}(r, 7.6031869040642354e-7, 6.4465925647595473e-5, 0.0017908702508731155, 0.023386272910943179,
                     0.16869382487341972, 0.72836828649998521, 1.9332528481896316, 3.086006975924375,
                     2.7083716580377488, 1.0)};
}

// q is signed and t > 0.
template <class T>
EP_INLINE T normal_quantile(T q, T t) {
    const Quotient<T> middle = middle_quotient(T(0.140625) - q * q);
    const Quotient<T> tail = tail_quotient(square_root(-logarithm(t)) - T(1.4375));
    const bool is_middle = absolute_of(q) <= T(0.375);
    const T factor = is_middle ? q : with_sign_of(T{1}, q);
    return factor * ((is_middle ? middle.above : tail.above) / (is_middle ? middle.below : tail.below));
}

// The normal number of a word: u = (v + 1/2) / 2^b, v the top b bits, by its distances from the middle and from the
// nearer end, which are exact or rounded once.
template <class T, class W>
EP_INLINE T normal_of(W word) {
    constexpr int spare = sizeof(T) == 8 ? 12 : 0, top = 8 * sizeof(T) - 1;
    constexpr T step = T{1} / static_cast<T>(W{1} << (top - spare)) / T{2};
    // v - 2^(b - 1): its bits are v's with the first one inverted. As signed numbers: vectors convert these
    // faster.
    const auto from_middle = static_cast<std::make_signed_t<W>>(word ^ W{1} << top) >> spare;
    const auto from_end = static_cast<std::make_signed_t<W>>((from_middle < 0 ? word : ~word) >> spare);
    return normal_quantile((static_cast<T>(from_middle) + T(0.5)) * step, (static_cast<T>(from_end) + T(0.5)) * step);
}
