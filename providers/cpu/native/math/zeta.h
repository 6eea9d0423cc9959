// The Hurwitz zeta function: the sum of (q + k)^-x over k >= 0. float is computed in double.
#pragma once

#include "gamma.h"
#include "power.h"

template <class T>
struct Zeta;

// Powers of positive numbers, and how many terms of the sum and of Euler's and Maclaurin's series are needed for a
// relative error of 2^-31 or 2^-53, whatever x and q are.
template <>
struct Zeta<float> {
    static constexpr int terms = 5, corrections = 4;
    static EP_INLINE double power(double a, double b) { return exponential(b * logarithm(a)); }
};
template <>
struct Zeta<double> {
    static constexpr int terms = 8, corrections = 8;
    static EP_INLINE double power(double a, double b) { return power_by(logarithm_of_base(a), b); }
};

// q > 0, x > 1: the first terms, then a^(1-x) (1 / (x - 1) + 1 / (2 a) + x / (12 a^2) - ...) with a = q + terms.
template <class T>
EP_INLINE double zeta_right(double x, double q) {
    // B(2j) / (2j)!, from j = 1
    constexpr double factors[] = {0.083333333333333333333,    -0.0013888888888888888889, 3.3068783068783068783e-05,
                                  -8.2671957671957671958e-07, 2.0876756987868098979e-08, -5.2841901386874931848e-10,
                                  1.3382536530684678833e-11,  -3.3896802963225828668e-13};
    double sum = 0.0;
#pragma GCC unroll 8
    for (int k = 0; k < Zeta<T>::terms; ++k) sum += Zeta<T>::power(q + k, -x);
    const double a = q + Zeta<T>::terms, inverse = 1.0 / a;
    const double order = at_most(x, 400.0);  // beyond it nothing is left of a^-x
    double series = 0.5, product = order * inverse;
#pragma GCC unroll 8
    for (int j = 0; j < Zeta<T>::corrections; ++j) {
        series = fused(factors[j], product, series);
        product *= (order + (2 * j + 1)) * inverse * ((order + (2 * j + 2)) * inverse);
    }
    return sum + Zeta<T>::power(a, 1.0 - x) * fused(inverse, series, 1.0 / (x - 1.0));
}

// Left of 0, for whole x, with f = q - floor(q): zeta(x, f) + (-1)^x (zeta(x, 1 - f) - zeta(x, 1 - q)).
template <class T>
EP_INLINE T zeta_of(T order, T start) {
    constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    const double x = static_cast<double>(order), q = static_cast<double>(start), finite = at_most(x, 1e300);
    const bool is_left = q < 0.0;
    const double a = absolute_of(q), r = to_integer(a), beyond = r > 0.0 ? r : 1.0 + r;
    const double fraction = r > 0.0 ? 1.0 - r : -r, right = zeta_right<T>(finite, is_left ? fraction : q);
    const double passed = zeta_right<T>(finite, beyond) - zeta_right<T>(finite, 1.0 + a);
    const double reflected = right + (is_integral(x * 0.5) ? passed : -passed);
    const double value = is_left ? reflected : right;
    const bool is_pole = (x == 1.0) | ((x > 1.0) & (q <= 0.0) & is_integral(a));
    const bool is_outside = (x < 1.0) | (is_left & !is_integral(x));
    const double outside = is_outside ? nan : value, all = is_pole ? infinity : outside;
    return static_cast<T>(q == q ? all : q);
}
