// lgamma, digamma, trigamma and the first two's derivatives. float is computed in double, so that roots keep their
// digits.
// Coefficients are Chebyshev interpolations made with mpmath at 80 digits.
#pragma once

#include "double_word.h"
#include "logarithm.h"

constexpr double PI = 3.14159265358979323846;

// lgamma(2 + w) / (w (1 + w)), |w| <= 0.5, relative error 2^-56.6
EP_INLINE double lgamma_near(double w) {
    return Horner{}(w, -2.4890295296503959e-07, 5.2365685348413622e-07, -8.2476880829059134e-07, 1.749054030806819e-06,
                    -3.8546221362515833e-06, 8.2374766746362499e-06, -1.7660586231652296e-05, 3.8166605933399918e-05,
                    -8.3095221469151262e-05, 0.00018255283839072259, -0.00040570739285611585, 0.00091537691250878313,
                    -0.0021081308340694721, 0.0049986411649353725, -0.012384192193370211, 0.032965000621153588,
                    -0.10031730167435392, 0.42278433509846713);
}
// x (lgamma(x) - (x - 0.5) log x + x - log(2 pi) / 2) in 1/x^2, x >= 8.5, 2^-58
EP_INLINE double lgamma_far(double z) {
    return Horner{}(z, 0.0051960417727830287, -0.0018956627985661561, 0.00084154987611438517, -0.0005952371356647239,
                    0.00079365079145524511, -0.0027777777777758862, 0.083333333333333329);
}
// digamma(y) / (y - root) in y - 1.5, 1 <= y <= 2, 2^-55.8
EP_INLINE double digamma_near(double w) {
    return Horner{}(w, -0.00017312261802727394, 0.00025968482126430747, -0.00015148586836773365, 0.0002272331660987376,
                    -0.00048219905305667889, 0.00072332662792875537, -0.0010376374098418604, 0.0015566317474486838,
                    -0.0023452676325407692, 0.0035190064015022762, -0.0052799648732574046, 0.0079269446464037968,
                    -0.011908218001568644, 0.0179072524394512, -0.026975796756138249, 0.040760833812420738,
                    -0.061922133273064534, 0.09498872445494122, -0.14840492305390884, 0.24054248424077421,
                    -0.42362742128146053, 0.95105587603183295);
}
// x^2 (log x - 1 / (2x) - digamma(x)) in 1/x^2, x >= 8, 2^-58
EP_INLINE double digamma_far(double z) {
    return Horner{}(z, -0.29942537062672769, 0.080023374653977145, -0.021051060908047731, 0.0075754599203691764,
                    -0.0041666655015167248, 0.0039682539659997009, -0.0083333333333316644, 0.083333333333333329);
}
// x^3 (trigamma(x) - 1/x - 1 / (2 x^2)) in 1/x^2, x >= 8, 2^-55
EP_INLINE double trigamma_far(double z) {
    return Horner{}(z, -4.575304142113839, 1.1093601965597175, -0.25239468627346012, 0.075752463481775861,
                    -0.033333313355818461, 0.023809523770911365, -0.033333333333304759, 0.16666666666666666);
}

// The distance of a >= 0 to the nearest integer, with sign: exact, and 0 from 2^52 on; of infinity NaN.
EP_INLINE double to_integer(double a) {
    constexpr double limit = 4503599627370496.0;
    return a < limit ? a - ((a + limit) - limit) : a - a;
}
// sin(pi r), |r| <= 0.5, relative error 2^-61
EP_INLINE double sine_pi(double r) {
    return r * Horner{}(r * r, 7.6978267682241909e-07, -2.1903497074626018e-05, 0.00046629981618983939,
                        -0.0073704305059169436, 0.0821458865731029, -0.59926452931894469, 2.5501640398773007,
                        -5.1677127800499694, 3.1415926535897931);
}

// x >= -0.5. From 8.5 on Stirling's series; below it lgamma(2 + w) and the logarithm of the product of the factors
// between: 2 + w is the nearest to x at a distance of an integer, so that the roots at 1 and 2 keep their digits.
EP_INLINE double lgamma_right(double x) {
    const double y = at_most(x, 8.5);
    const double steps = nearest_integer(y) - 2.0;
    const double w = y - (steps + 2.0);
    double product = 1.0;
    for (int i = 1; i <= 6; ++i) product *= steps >= i ? y - i : 1.0;
    const double below = steps < -1.0 ? absolute_of(y * (y + 1.0)) : y;
    const bool is_far = x > 8.5, is_below = steps < 0.0;
    const double near_argument = is_below ? below : product;
    const double log = logarithm(is_far ? x : near_argument);
    const double shifted = w * (1.0 + w) * lgamma_near(w) + (is_below ? -log : log);
    const double inverse = 1.0 / x;
    const double far = (x - 0.5) * (log - 1.0) + (0.41893853320467274178 + inverse * lgamma_far(inverse * inverse));
    return is_far ? far : shifted;
}

// Left of -0.5 by reflection: log(pi / (|x| sin(pi |x|))) - lgamma(|x|); infinite at the poles and at -infinity.
EP_INLINE double lgamma_of(double x) {
    const double a = absolute_of(x);
    const bool is_left = x < -0.5;
    const double right = lgamma_right(is_left ? a : x);
    const double sine = absolute_of(sine_pi(to_integer(a)));
    const double left = logarithm(PI / (a * sine)) - right;
    const double value = is_left ? left : right;
    return is_left & !(sine > 0.0) ? std::numeric_limits<double>::infinity() : value;
}

// y >= 1, in two words. From 8 on the asymptotic series; below it y is brought to [1, 2), where the distance to the
// root is a factor.
EP_INLINE double digamma_right(DoubleWord<double> sum) {
    const double y = sum.high;
    constexpr double root_high = 1.4616321449683622, root_low = 9.549995429965697e-17;
    const double x = at_most(y, 7.9999999999999991);
    double steps = 0.0, numerator = 0.0, denominator = 1.0;
    for (int i = 1; i <= 6; ++i) {
        const bool is_passed = x >= i + 1;
        const double factor = is_passed ? x - i : 1.0;
        numerator = fused(numerator, factor, is_passed ? denominator : 0.0);
        denominator *= factor;
        steps += is_passed ? 1.0 : 0.0;
    }
    const double near = x - steps;
    const double shifted =
        ((near - root_high) + (sum.low - root_low)) * digamma_near(near - 1.5) + numerator / denominator;
    const double inverse = 1.0 / y, square = inverse * inverse;
    const double far = logarithm(y) - fused(0.5, inverse, square * digamma_far(square));
    return y < 8.0 ? shifted : far;
}

// Left of 1 by recurrence, left of 0 by reflection: digamma(1 - x) - pi / tan(pi x). At the poles NaN, as the two sides
// differ, and at 0 the infinity of the side that the zero's sign says.
EP_INLINE double digamma_of(double x) {
    const double a = absolute_of(x);
    const bool is_left = x < 0.0;
    const double right = digamma_right(two_sum(x < 1.0 ? 1.0 : 0.0, a));
    const double r = to_integer(a), sine = sine_pi(r), cosine = sine_pi(0.5 - absolute_of(r));
    const double reflected = (is_left ? PI * cosine : -1.0) / (is_left ? sine : x);
    const double value = x < 1.0 ? right + reflected : right;
    return is_left & (r == 0.0) ? std::numeric_limits<double>::quiet_NaN() : value;
}

// y > 0: from 8 on the asymptotic series, below it eight terms more, which are all positive.
EP_INLINE double trigamma_right(double y) {
    double numerator = 0.0, denominator = 1.0;
    for (int i = 1; i <= 7; ++i) {
        const double square = (y + i) * (y + i);
        numerator = fused(numerator, square, denominator);
        denominator *= square;
    }
    const bool is_far = y >= 8.0;
    const double first = 1.0 / y;
    const double shifted = is_far ? 0.0 : fused(first, first, numerator / denominator);
    const double inverse = 1.0 / (is_far ? y : y + 8.0), square = inverse * inverse;
    return shifted + (inverse + square * fused(inverse, trigamma_far(square), 0.5));
}

// Left of 0 by reflection: (pi / sin(pi x))^2 - trigamma(1 - x); infinite at the poles.
EP_INLINE double trigamma_of(double x) {
    const double a = absolute_of(x);
    const double right = trigamma_right(x < 0.0 ? 1.0 + a : a);
    const double cosecant = PI / sine_pi(to_integer(a));
    return x < 0.0 ? cosecant * cosecant - right : right;
}

// dy digamma(x) and dy trigamma(x)
template <class T>
EP_INLINE T lgamma_slope(T dy, T x) {
    return static_cast<T>(static_cast<double>(dy) * digamma_of(static_cast<double>(x)));
}
template <class T>
EP_INLINE T digamma_slope(T dy, T x) {
    return static_cast<T>(static_cast<double>(dy) * trigamma_of(static_cast<double>(x)));
}

EP_INLINE float lgamma_of(float x) {
    return static_cast<float>(lgamma_of(static_cast<double>(x)));
}
EP_INLINE float digamma_of(float x) {
    return static_cast<float>(digamma_of(static_cast<double>(x)));
}
EP_INLINE float trigamma_of(float x) {
    return static_cast<float>(trigamma_of(static_cast<double>(x)));
}
