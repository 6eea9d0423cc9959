// erf, erfc and their derivative.
// Coefficients are Chebyshev interpolations made with mpmath at 60 digits (relative error below 2^-28 and 2^-57).
#pragma once

#include "exponential.h"

template <class T>
struct ErrorFunction;

template <>
struct ErrorFunction<float> {
    static constexpr float zero = 10.5F, far_zero = 14.4F;  // where erfc, and 2^127 e^(-a^2), are 0
    // erf(a) / a - 1 in a^2, for a^2 <= 1
    template <class H>
    static EP_INLINE float near(float z, H horner) {
        return horner(z, 7.87587487e-05F, -0.00080168643F, 0.00518908724F, -0.0268542115F, 0.112835944F, -0.37612626F,
                      0.128379166F);
    }
    // (a + 4) e^(a^2) erfc(a) in t = (a - 4) / (a + 4), for 0 <= a <= 10.7
    template <class H>
    static EP_INLINE float ratio(float t, H horner) {
        return horner(t, -0.000774773594F, -0.000432996254F, 0.0061953268F, -0.0262781624F, 0.076387465F, -0.174025759F,
                      0.330848813F, -0.540852964F, 0.773208857F, -0.976548731F, 1.09599566F);
    }
};

template <>
struct ErrorFunction<double> {
    static constexpr double zero = 27.5, far_zero = 38.7;
    template <class H>
    static EP_INLINE double near(double z, H horner) {
        return horner(z, 5.9571761477489113e-11, -1.1372848856791674e-09, 1.4659775274047436e-08,
                      -1.6350312701054695e-07, 1.6461000484121368e-06, -1.4925595266831182e-05, 0.0001205533111164271,
                      -0.000854832698083379, 0.0052239776248180145, -0.026866170645076792, 0.11283791670954879,
                      -0.37612638903183748, 0.12837916709551259);
    }
    // for 0 <= a <= 27.6
    template <class H>
    static EP_INLINE double ratio(double t, H horner) {
        return horner(t, 8.9315940274092754e-10, -6.849142850479369e-10, -1.5222228416539406e-08,
                      3.4980198848456316e-09, 1.2405724098798588e-07, -7.9102356860326147e-08, -8.4641390728260461e-07,
                      1.4268958632223825e-06, 4.6947042703398717e-06, -1.8862140720271332e-05, -3.6353303651929872e-06,
                      0.00017681318821308878, -0.00045505263734578, -0.00028095893450075346, 0.006112055648063928,
                      -0.026370053332490904, 0.076381514909980866, -0.17401093724042926, 0.33085158787798363,
                      -0.54085383131322062, 0.77320870226523752, -0.97654872908088208, 1.0959956610004911);
    }
};

// erf(a) for 0 <= a <= 1, and something finite beyond
template <class T>
EP_INLINE T error_function_near(T a) {
    return fused(a, ErrorFunction<T>::near(a * a, Horner{}), a);
}

// e^(-factor a^2) for a >= 0 and a power of two; a^2 is taken in two parts, because an error of one ulp in it is a^2
// ulps of the result.
template <class T>
EP_INLINE Scaled<T> bell(T a, T factor) {
    const T upper = of_bits<T>(bits_of(a) & Float<T>::upper_half);
    return exponential_scaled(-factor * upper * upper, factor * (upper - a) * (a + upper));
}

// e^(a^2) erfc(a) for a >= 0
template <class T>
EP_INLINE T scaled_error_function(T a) {
    const T inverse = T{1} / (a + T{4}), quotient = (a - T{4}) * inverse;
    // One step of Newton: the polynomial is steep where a is small.
    const T rest = fused(quotient, -a, fused(quotient + T{1}, T{-4}, a));
    return ErrorFunction<T>::ratio(fused(inverse, rest, quotient), Horner{}) * inverse;
}

// erfc(a) for 0 <= a <= zero
template <class T>
EP_INLINE T error_function_tail(T a) {
    const Scaled<T> e = bell(a, T{1});
    return scale(e.value * scaled_error_function(a), e.exponent);
}

EP_INLINE double error_function(double x) {
    const double a = at_most(absolute_of(x), 6.0);
    const double near = error_function_near(a), far = 1.0 - error_function_tail(a);
    return with_sign_of(a < 1.0 ? near : far, x);
}
// From `middle` to 4, from where on the result is 1, log(erfc(a)) is a polynomial: its error counts erfc(a) times, and
// is below 2^-28 then. Nearer to 0 the series is shorter than that for all a <= 1.
EP_INLINE float error_function(float x) {
    constexpr float middle = 0.85F;
    const float a = at_most(absolute_of(x), 4.0F), z = a * a;
    const float near =
        Horner{}(z, -0.000631512958F, 0.00505109504F, -0.0268025473F, 0.112827174F, -0.376125723F, 0.128379166F);
    const float log_tail = Horner{}(a, 0.000202527357F, -0.00310717896F, 0.0224789735F, -0.104448028F, -0.636601686F,
                                    -1.1280154F, -0.000114703813F);
    const Shifted<float> e = shifted(log_tail, 0.0F);
    const float far = 1.0F - exponential_times(e.r, e.power);
    return with_sign_of(a < middle ? fused(a, near, a) : far, x);
}

template <class T>
EP_INLINE T complementary_error_function(T x) {
    const T a = at_most(absolute_of(x), ErrorFunction<T>::zero);
    const T near = T{1} - with_sign_of(error_function_near(a), x);
    const T right = error_function_tail(a), left = T{2} - right;
    const T far = x < T{0} ? left : right;
    return a < T(0.5) ? near : far;
}

// dy 2 / sqrt(pi) e^(-x^2), for erfc with the other sign of dy
template <class T>
EP_INLINE T error_function_slope(T dy, T x) {
    const T a = at_most(absolute_of(x), ErrorFunction<T>::far_zero);
    const Scaled<T> e = bell(a, T{1});
    const T value = a >= ErrorFunction<T>::far_zero ? T{0} : e.value * static_cast<T>(1.1283791670955126);
    return scale_far(value * dy, e.exponent);
}
