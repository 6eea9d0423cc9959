// erf, erfc and their derivative. Included once per instruction set, in an anonymous namespace, after vector_math.h.
// Coefficients are Chebyshev interpolations made with mpmath at 60 digits (relative error below 2^-28 and 2^-58).
#pragma once

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
    // (a + 3) e^(a^2) erfc(a) in t = (a - 3) / (a + 3), for 0.5 <= a <= 10.2
    template <class H>
    static EP_INLINE float ratio(float t, H horner) {
        return horner(t, -0.000313154334F, -0.000479877985F, 0.00306882802F, -0.00122815545F, -0.0268360842F,
                      0.11952924F, -0.310466468F, 0.590228319F, -0.88339448F, 1.07400692F);
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
    // for 0.5 <= a <= 27.4
    template <class H>
    static EP_INLINE double ratio(double t, H horner) {
        return horner(t, -6.5664816690916697e-09, -2.7543518075331837e-09, 4.9065998908817195e-08,
                      4.7506276434435996e-08, -2.3310705638897359e-07, -4.0845890814083839e-07, 9.9912518035557931e-07,
                      2.7653500923908583e-06, -4.7494617543111872e-06, -1.7470474470045081e-05, 3.0398252746412279e-05,
                      0.0001075614547181566, -0.00027677786452786756, -0.00054830968647111408, 0.0030340620032524809,
                      -0.001212416627654858, -0.026827234624598965, 0.11952776128730806, -0.31046726190056445,
                      0.5902283571041016, -0.88339445316988363, 1.0740069070883398);
    }
};

// erf(a) for 0 <= a <= 1
template <class T>
EP_INLINE T error_function_near(T a) {
    return fused(a, ErrorFunction<T>::near(a * a, Horner{}), a);
}

// e^(-a^2) for 0 <= a <= far_zero; a^2 is taken in two parts, because an error of one ulp in it is a^2 ulps here.
template <class T>
EP_INLINE Scaled<T> bell(T a) {
    const T upper = of_bits<T>(bits_of(a) & Float<T>::upper_half);
    return exponential_scaled(-upper * upper, (upper - a) * (a + upper));
}

// erfc(a) for 0.5 <= a <= zero, as value * 2^exponent
template <class T>
EP_INLINE Scaled<T> error_function_tail(T a) {
    const T inverse = T{1} / (a + T{3}), quotient = (a - T{3}) * inverse;
    // One step of Newton: the polynomial is steep where a is small.
    const T rest = fused(quotient, -a, fused(quotient + T{1}, T{-3}, a));
    const T ratio = ErrorFunction<T>::ratio(fused(inverse, rest, quotient), Horner{}) * inverse;
    const Scaled<T> e = bell(a);
    return {e.value * ratio, e.exponent};
}

template <class T>
EP_INLINE T error_function(T x) {
    const T a = at_most(absolute_of(x), T{6});
    const Scaled<T> tail = error_function_tail(at_least(a, T(0.5)));
    const T far = T{1} - tail.value * power_of_two(tail.exponent);
    return with_sign_of(a < T{1} ? error_function_near(at_most(a, T{1})) : far, x);
}

template <class T>
EP_INLINE T complementary_error_function(T x) {
    const T a = at_most(absolute_of(x), ErrorFunction<T>::zero);
    const Scaled<T> scaled = error_function_tail(at_least(a, T(0.5)));
    const T tail = scale(scaled.value, scaled.exponent);
    const T far = x < T{0} ? T{2} - tail : tail;
    return a < T(0.5) ? T{1} - with_sign_of(error_function_near(at_most(a, T{1})), x) : far;
}

// dy 2 / sqrt(pi) e^(-x^2), for erfc with the other sign of dy
template <class T>
EP_INLINE T error_function_slope(T dy, T x) {
    const T a = at_most(absolute_of(x), ErrorFunction<T>::far_zero);
    const Scaled<T> e = bell(a);
    const T value = a >= ErrorFunction<T>::far_zero ? T{0} : e.value * static_cast<T>(1.1283791670955126);
    return scale_far(value * dy, e.exponent);
}
