// Prints the worst errors of the error functions, and of lgamma, right of 0 only for float64: left of it roots have no
// bound in ulps. ../README.md says how it is run.
#include "worst.h"

namespace {

#include "../native/math/error_function.h"
#include "../native/math/gamma.h"

}  // namespace

int main(int count, char** arguments) {
    if (count > 1) stride = std::strtoull(arguments[1], nullptr, 10);
    EP_WORST("erf", -6, 6, error_function(x), std::erf(x), erfq(x))
    for (const double span : {1.5, 28.0}) {
        EP_WORST("erfc", -span, span, complementary_error_function(x), std::erfc(x), erfcq(x))
    }
    all_floats("lgamma", [](float x) { return lgamma_of(x); }, [](double x) { return std::lgamma(x); });
    for (const double high : {3.0, 20.0})
        some_doubles(
            "lgamma", 0, high, [](double x) { return lgamma_of(absolute_of(x)); },
            [](Quad x) { return lgammaq(fabsq(x)); });
}
