// The worst error of a function, in ulps as Khronos counts them, over many inputs.
#pragma once

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
#include "../native/math/quarter_turns.h"

namespace {

#include "../native/math/vector_math.h"

using Quad = __float128;

struct Worst {
    double ulps = 0, at = 0, and_at = 0;
    long wrong = 0;

    template <class T>
    void see(T x, T y, T result, Quad reference) {
        const T rounded = static_cast<T>(reference);
        if (std::isnan(rounded) ? std::isnan(result) : std::memcmp(&rounded, &result, sizeof result) == 0) return;
        double error = std::numeric_limits<double>::infinity();
        const bool is_finite = std::isfinite(result) && std::isfinite(rounded);
        if (is_finite) {
            constexpr int digits = std::numeric_limits<T>::digits, least = std::numeric_limits<T>::min_exponent - 1;
            int exponent = 0;
            const bool is_power = frexpq(fabsq(reference), &exponent) == 0.5Q;
            const int binade = reference == 0 ? least : std::max(exponent - 1 - is_power, least);
            error = static_cast<double>(ldexpq(fabsq(result - reference), digits - 1 - binade));
        } else {
            ++wrong;
        }
        if (is_finite ? error > ulps && wrong == 0 : wrong == 1) {
            ulps = error, at = static_cast<double>(x), and_at = static_cast<double>(y);
        }
    }

    void print(const char* name, const char* type) const {
        std::printf("%-14s %s, fma %d: %.2f ulp at %.17g, %.17g; %ld wrong\n", name, type, EP_FMA, ulps, at, and_at,
                    wrong);
        std::fflush(stdout);
    }
};

inline uint64_t stride = 1;

template <class Function, class Reference>
void all_floats(const char* name, Function function, Reference reference) {
    Worst worst;
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += stride) {
        const auto x = of_bits<float>(static_cast<uint32_t>(bits));
        worst.see(x, x, function(x), reference(static_cast<double>(x)));
    }
    worst.print(name, "float32");
}

// A third of the inputs in [low, high], a third of any exponent up to that, a third of any bits.
class Doubles {
   public:
    Doubles(double low, double high) : inside_(low, high) {}
    double next() {
        const double x = inside_(random_);
        const int kind = count_++ % 3;
        if (kind == 1) return std::copysign(std::ldexp(1 + std::fabs(x), static_cast<int>(exponent_(random_))), x);
        return kind == 2 ? of_bits<double>(random_()) : x;
    }

   private:
    std::mt19937_64 random_{7};
    std::uniform_real_distribution<double> inside_, exponent_{-1074, 10};
    int count_ = 0;
};

template <class Function, class Reference>
void some_doubles(const char* name, double low, double high, Function function, Reference reference) {
    Doubles inputs(low, high);
    Worst worst;
    for (int i = 0; i < 600000; ++i) {
        const double x = inputs.next();
        worst.see(x, x, function(x), reference(static_cast<Quad>(x)));
    }
    worst.print(name, "float64");
}

template <class T, class Function, class Reference>
void some_pairs(const char* name, double low, double high, Function function, Reference reference) {
    Doubles inputs(low, high);
    std::mt19937_64 random(11);
    Worst worst;
    for (int i = 0; i < 1500000; ++i) {
        T x = static_cast<T>(inputs.next()), y = static_cast<T>(inputs.next());
        if (i % 4 == 1) y = static_cast<T>(inputs.next());
        if (i % 16 == 2) y = static_cast<T>(static_cast<int>(random() % 41) - 20);
        worst.see(x, y, function(x, y), reference(static_cast<Quad>(x), static_cast<Quad>(y)));
    }
    worst.print(name, sizeof(T) == 4 ? "float32" : "float64");
}

}  // namespace

// A function of x for all float32 and for float64 around [low, high]; reference of double x, of quadruple x.
#define EP_WORST(name, low, high, value, reference, wide_reference)                      \
    all_floats(name, [](float x) { return value; }, [](double x) { return reference; }); \
    some_doubles(name, low, high, [](double x) { return value; }, [](Quad x) { return wide_reference; });
