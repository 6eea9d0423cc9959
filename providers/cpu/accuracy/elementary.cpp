// Prints the worst errors of elementary functions; ../README.md says how it is run.
#include "worst.h"

namespace {

#include "../native/math/hyperbolic.h"
#include "../native/math/logistic.h"
#include "../native/math/power.h"
#include "../native/math/remainder.h"
#include "../native/math/trigonometric.h"

void exponentials() {
    EP_WORST("exp", -746, 710, exponential(x), std::exp(x), expq(x))
    EP_WORST("exp2", -1080, 1025, exponential2(x), std::exp2(x), exp2q(x))
    EP_WORST("expm1", -2, 2, exponential_minus_one(x), std::expm1(x), expm1q(x))
    EP_WORST("sigmoid", -40, 40, sigmoid_of(x), 1 / (1 + std::exp(-x)), 1 / (1 + expq(-x)))
    EP_WORST("log_sigmoid", -40, 40, log_sigmoid_of(x), x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x)),
             x < 0 ? x - log1pq(expq(x)) : -log1pq(expq(-x)))
}

void logarithms() {
    EP_WORST("log", 0.4, 2, logarithm(x), std::log(x), logq(x))
    EP_WORST("log2", 0.4, 2, logarithm2(x), std::log2(x), log2q(x))
    EP_WORST("log10", 0.4, 2, logarithm10(x), std::log10(x), log10q(x))
    EP_WORST("log1p", -1, 2, logarithm1p(x), std::log1p(x), log1pq(x))
}

void hyperbolics() {
    EP_WORST("sinh", -3, 3, hyperbolic_sine(x), std::sinh(x), sinhq(x))
    EP_WORST("cosh", -712, 712, hyperbolic_cosine(x), std::cosh(x), coshq(x))
    EP_WORST("tanh", -1, 1, hyperbolic_tangent(x), std::tanh(x), tanhq(x))
    EP_WORST("asinh", -3, 3, area_sine(x), std::asinh(x), asinhq(x))
    EP_WORST("acosh", 1, 4, area_cosine(x), std::acosh(x), acoshq(x))
    EP_WORST("atanh", -1, 1, area_tangent(x), std::atanh(x), atanhq(x))
}

void circulars() {
    EP_WORST("sin", -10, 10, sine(x), std::sin(x), sinq(x))
    EP_WORST("cos", -10, 10, cosine(x), std::cos(x), cosq(x))
    EP_WORST("tan", -10, 10, tangent(x), std::tan(x), tanq(x))
    EP_WORST("asin", -1, 1, arc_sine(x), std::asin(x), asinq(x))
    EP_WORST("acos", -1, 1, arc_cosine(x), std::acos(x), acosq(x))
    EP_WORST("atan", -3, 3, arc_tangent(x), std::atan(x), atanq(x))
}

template <class T>
void pairs() {
    some_pairs<T>("atan2", -4, 4, [](T y, T x) { return arc_tangent2(y, x); }, atan2q);
    for (const double high : {4.0, 200.0}) some_pairs<T>("pow", -4, high, [](T a, T b) { return power(a, b); }, powq);
    some_pairs<T>("fmod", -4, 4, [](T a, T b) { return truncated_remainder(a, b); }, fmodq);
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1) stride = std::strtoull(arguments[1], nullptr, 10);
    exponentials();
    logarithms();
    EP_WORST("rsqrt", 0, 3, 1 / square_root(x), 1 / std::sqrt(x), 1 / sqrtq(x))
    hyperbolics();
    circulars();
    pairs<float>();
    pairs<double>();
}
