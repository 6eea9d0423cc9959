// Prints the worst errors of activations; ../README.md says how it is run.
#include "worst.h"

namespace {

#include "../native/math/activation.h"

Quad sigmoid(Quad x) {
    return 1 / (1 + expq(-x));
}

// x times a function that vanishes at the left, where the product is not to be NaN.
Quad product(Quad x, Quad factor) {
    return x < -2000 ? -0.0Q : x * factor;
}

Quad elu(Quad x) {
    return x > 0 ? x : expm1q(x);
}

Quad cubic_argument(Quad x) {
    const Quad linear = 0.7978845608028654, cubic = 0.044715;
    return 2 * linear * (x + cubic * x * x * x);
}

// tanh(log(1 + e^x))
Quad mish(Quad x) {
    const Quad e = expq(-fabsq(x));
    return x > 0 ? (1 + 2 * e) / (1 + 2 * e + 2 * e * e) : e * (e + 2) / (2 + 2 * e + e * e);
}

Quad soft_plus(Quad x) {
    return x > 20 ? x : log1pq(expq(x));
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1) stride = std::strtoull(arguments[1], nullptr, 10);
    EP_WORST("elu", -2, 0, elu_of(x, decltype(x){1}), x > 0 ? x : std::expm1(x), elu(x))
    EP_WORST("celu, 3", -6, 0, celu_of(x, decltype(x){3}), x > 0 ? x : 3 * std::expm1(x / 3), 3 * elu(x / 3))
    EP_WORST("selu", -2, 2, selu_of(x), 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)),
             static_cast<Quad>(1.0507009873554805) * (x > 0 ? x : static_cast<Quad>(1.6732632423543772) * expm1q(x)))
    for (const double span : {2.0, 39.0}) {
        EP_WORST("gelu", -span, span, gelu_of(x), x < -40 ? -0.0 : 0.5 * x * std::erfc(-x * M_SQRT1_2),
                 x < -50 ? -0.0Q : 0.5Q * x * erfcq(-x * M_SQRT1_2q))
    }
    EP_WORST("quick_gelu", -442, 9, quick_gelu_of(x),
             static_cast<double>(product(x, sigmoid(static_cast<Quad>(1.702) * x))),
             product(x, sigmoid(static_cast<Quad>(1.702) * x)))
    EP_WORST("fast_gelu", -22, 9, fast_gelu_of(x), static_cast<double>(product(x, sigmoid(cubic_argument(x)))),
             product(x, sigmoid(cubic_argument(x))))
    EP_WORST("silu", -752, 9, silu_of(x), static_cast<double>(product(x, sigmoid(x))), product(x, sigmoid(x)))
    EP_WORST("mish", -752, 9, mish_of(x), static_cast<double>(product(x, mish(x))), product(x, mish(x)))
    EP_WORST("soft_plus", -745, 20, soft_plus_of(x, decltype(x){1}, decltype(x){20}), static_cast<double>(soft_plus(x)),
             soft_plus(x))
    EP_WORST("soft_sign", -9, 9, soft_sign_of(x), std::isinf(x) ? std::copysign(1, x) : x / (1 + std::fabs(x)),
             isinfq(x) ? copysignq(1, x) : x / (1 + fabsq(x)))
    EP_WORST("hard_swish", -4, 4, hard_swish_of(x),
             x <= -3  ? 0
             : x >= 3 ? x
                      : x * (x + 3) / 6,
             x <= -3  ? 0
             : x >= 3 ? x
                      : x * (x + 3) / 6)
}
