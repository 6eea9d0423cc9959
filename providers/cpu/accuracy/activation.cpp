// Prints the worst errors of activations; ../README.md says how it is run.
#include "worst.h"

namespace {

#include "../native/activation.h"

}  // namespace

int main(int count, char** arguments) {
    if (count > 1) stride = std::strtoull(arguments[1], nullptr, 10);
    all_floats("elu", [](float x) { return elu_of(x, 1.0F); }, [](double x) { return x > 0 ? x : std::expm1(x); });
    some_doubles("elu", -2, 0, [](double x) { return elu_of(x, 1.0); }, [](Quad x) { return x > 0 ? x : expm1q(x); });
    all_floats(
        "gelu", [](float x) { return gelu_of(x); },
        [](double x) { return x < -40 ? -0.0 : 0.5 * x * std::erfc(-x * M_SQRT1_2); });
    for (const double span : {2.0, 39.0})
        some_doubles(
            "gelu", -span, span, [](double x) { return gelu_of(x); },
            [](Quad x) { return x < -50 ? -0.0Q : 0.5Q * x * erfcq(-x * M_SQRT1_2q); });
}
