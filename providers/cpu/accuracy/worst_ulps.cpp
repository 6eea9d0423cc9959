// Prints the worst error of the vector functions, in ulps as Khronos counts them: float32 over every stride-th of all
// 2^32 inputs against the double functions of the C library, float64 over random inputs against libquadmath.
// Not part of the build; ../README.md says how it is run.
#include <quadmath.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#define EP_INLINE inline __attribute__((always_inline))
#if defined(__FMA__)
#define EP_FMA 1
#else
#define EP_FMA 0
#endif

namespace {

#include "../native/vector_math.h"

struct Worst {
    double ulps = 0, at = 0;
    long wrong = 0;

    template <class T>
    void see(T x, T result, __float128 reference) {
        const T rounded = static_cast<T>(reference);
        if (std::isnan(rounded) ? std::isnan(result) : std::memcmp(&rounded, &result, sizeof result) == 0) return;
        if (!std::isfinite(result) || !std::isfinite(rounded)) {
            ++wrong;
            return;
        }
        constexpr int digits = std::numeric_limits<T>::digits, least = std::numeric_limits<T>::min_exponent - 1;
        int exponent = 0;
        const bool is_power = frexpq(fabsq(reference), &exponent) == 0.5Q;
        const int binade = reference == 0 ? least : std::max(exponent - 1 - is_power, least);
        const auto error = static_cast<double>(ldexpq(fabsq(result - reference), digits - 1 - binade));
        if (error > ulps) ulps = error, at = static_cast<double>(x);
    }

    void print(const char* name, const char* type) const {
        std::printf("%s %s, fma %d: %.2f ulp at %.17g, %ld wrong\n", name, type, EP_FMA, ulps, at, wrong);
        std::fflush(stdout);
    }
};

template <class Function, class Reference>
void all_floats(const char* name, uint64_t stride, Function function, Reference reference) {
    Worst worst;
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += stride) {
        const auto x = of_bits<float>(static_cast<uint32_t>(bits));
        worst.see(x, function(x), reference(static_cast<double>(x)));
    }
    worst.print(name, "float32");
}

template <class Function, class Reference>
void some_doubles(const char* name, double low, double high, Function function, Reference reference) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> inside(low, high), exponent(-1074, 10);
    Worst worst;
    for (int i = 0; i < 600000; ++i) {
        double x = inside(random);
        if (i % 3 == 1) x = std::copysign(std::ldexp(1 + std::fabs(x), static_cast<int>(exponent(random))), x);
        if (i % 3 == 2) x = of_bits<double>(random());
        worst.see(x, function(x), reference(static_cast<__float128>(x)));
    }
    worst.print(name, "float64");
}

}  // namespace

int main(int count, char** arguments) {
    const uint64_t stride = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1;
    all_floats("exp", stride, [](float x) { return exponential(x); }, [](double x) { return std::exp(x); });
    all_floats("log", stride, [](float x) { return logarithm(x); }, [](double x) { return std::log(x); });
    all_floats("tanh", stride, [](float x) { return hyperbolic_tangent(x); }, [](double x) { return std::tanh(x); });
    all_floats(
        "elu", stride, [](float x) { return elu_of(x, 1.0F); }, [](double x) { return x > 0 ? x : std::expm1(x); });
    all_floats(
        "gelu", stride, [](float x) { return gelu_of(x); },
        [](double x) { return x < -40 ? -0.0 : 0.5 * x * std::erfc(-x * M_SQRT1_2); });
    using Quad = __float128;
    some_doubles("exp", -746, 710, [](double x) { return exponential(x); }, [](Quad x) { return expq(x); });
    some_doubles("log", 0.4, 2, [](double x) { return logarithm(x); }, [](Quad x) { return logq(x); });
    some_doubles("tanh", -1, 1, [](double x) { return hyperbolic_tangent(x); }, [](Quad x) { return tanhq(x); });
    some_doubles("elu", -2, 0, [](double x) { return elu_of(x, 1.0); }, [](Quad x) { return x > 0 ? x : expm1q(x); });
    for (const double span : {2.0, 39.0})
        some_doubles(
            "gelu", -span, span, [](double x) { return gelu_of(x); },
            [](Quad x) { return x < -50 ? -0.0Q : 0.5Q * x * erfcq(-x * M_SQRT1_2q); });
}
