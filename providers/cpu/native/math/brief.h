// Functions of 16-bit numbers, which are computed in float: to some 2^-15 of themselves, of which the result keeps
// 2^-11.
#pragma once

#include "exponential.h"
#include "power.h"

// As shifted(), and e^r for a small r.
EP_INLINE Shifted<float> shifted_brief(float x, float offset) {
    const float shift = (Float<float>::integer_magic + Float<float>::bias) + offset;
    const float t = fused(x, 1.44269504F, shift), n = t - shift;
    return {fused(-n, 0.693147181F, x), of_bits<float>(bits_of(t) << Float<float>::fraction)};
}
EP_INLINE float exponential_near_brief(float r) {
    return Horner{}(r, 0.04187676558F, 0.1679281665F, 0.4999936539F, 0.9999618891F, 1.0F);
}

EP_INLINE float exponential_brief(float x) {
    using E = Exponential<float>;
    const bool is_left = x < 0.0F;
    const Shifted<float> e =
        shifted_brief(at_least(at_most(x, E::high), E::low), is_left ? E::spare_exponent : -E::spare_exponent);
    return exponential_near_brief(e.r) * e.power * (is_left ? E::spare : 1.0F / E::spare);
}
// 2^(n + r)
EP_INLINE float power_of_two_at_brief(float n, float r) {
    using E = Exponential<float>;
    const bool is_left = n < 0.0F;
    return exponential_near_brief(r * 0.693147181F) *
           power_of_two(n + (is_left ? E::spare_exponent : -E::spare_exponent)) *
           (is_left ? E::spare : 1.0F / E::spare);
}
EP_INLINE float exponential2_brief(float x) {
    using E = Exponential<float>;
    const float inside = at_least(at_most(x, E::high2), E::low2), n = nearest_integer(inside);
    return power_of_two_at_brief(n, inside - n);
}

// 2^spare_exponent e^x for x from deep to 0
EP_INLINE float exponential_raised_brief(float x) {
    const Shifted<float> e = shifted_brief(x, Exponential<float>::spare_exponent);
    return exponential_near_brief(e.r) * e.power;
}

// weight sigmoid(x) with |x| up to -deep
EP_INLINE float gated_brief(float weight, float x, float size) {
    using E = Exponential<float>;
    const bool is_left = x < 0.0F;
    const float raised = exponential_raised_brief(-size);
    const float share = (is_left ? raised : 1.0F) / (1.0F + raised * E::spare);
    return weight * share * (is_left ? E::spare : 1.0F);
}
EP_INLINE float sigmoid_brief(float x) {
    return gated_brief(1.0F, x, at_most(absolute_of(x), -Exponential<float>::deep));
}
EP_INLINE float silu_brief(float x) {
    constexpr float deep = Exponential<float>::deep;
    return gated_brief(at_least(x, deep), x, size_within(x, -deep));
}

// x Phi(x), as gelu_of(), for a = |x|, whose square is exact.
EP_INLINE float gelu_brief(float x) {
    const float a = size_within(x, 15.0F), s = a / (a + 2.5F);
    const float ratio = Horner{}(s, -0.208480637F, 0.4817641873F, 0.1135220908F, -1.237522673F, 1.249900183F);
    const float tail = exponential_raised_brief(-0.5F * a * a) * (s * ratio) * Exponential<float>::spare;
    return at_least(x, -0.0F) - tail;
}

// 1 to eleven digits from 2.7 on, where this stops.
EP_INLINE float error_function_brief(float x) {
    const float a = at_least(at_most(x, 2.7F), -2.7F), z = a * a;
    return a * Horner{}(z, 8.659281275e-8F, -3.399350997e-6F, 6.004015798e-5F, -0.0006422237524F, 0.004750551185F,
                        -0.02624621422F, 0.1124185871F, -0.3760146357F, 1.128374164F);
}

// b log2(a) is off by at most 2^-15, because float has eight digits more than it can be large.
EP_INLINE float power_brief(float a, float b) {
    using E = Exponential<float>;
    const float base = absolute_of(a);
    const Normalised<float> y = normalised(base);
    const float s = y.f / (2.0F + y.f), z = s * s;
    const float series = Horner{}(z, 0.4317264381F, 0.5767148647F, 0.9617988416F, 2.88539008F);
    const float product = b * fused(s, series, whole_logarithm(base, y.k));
    const float exponent = at_least(at_most(product, E::high2), E::low2), n = nearest_integer(exponent);
    return signed_power(a, b, power_of_two_at_brief(n, exponent - n));
}
