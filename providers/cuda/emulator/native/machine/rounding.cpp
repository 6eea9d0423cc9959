#include "machine/rounding.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>

#include "machine/exports.h"

std::uint64_t assembled(bool is_negative, unsigned __int128 size, int exponent, bool rest, const Format& format,
                        int mode) {
    int fraction = format.precision - 1;
    std::uint64_t sign = static_cast<std::uint64_t>(is_negative) << (format.bits - 1);
    std::uint64_t infinite = static_cast<std::uint64_t>(format.most - format.least + 2) << fraction;
    if (!size && !rest) return sign;
    int length = 0;
    while (length < 128 && size >> length) ++length;
    int last =
        std::max(exponent + length - format.precision, format.least - fraction);  // the weight of the last bit kept
    int away = last - exponent;
    unsigned __int128 kept = away > 0 ? (away < 128 ? size >> away : 0) : size << -away;
    bool half = away > 0 && away <= 128 && (size >> (away - 1) & 1);
    bool below =
        rest ||
        (away > 1 && (away > 128 ? size != 0 : (size & ((static_cast<unsigned __int128>(1) << (away - 1)) - 1)) != 0));
    bool goes_up = false;
    switch (mode) {
        case NEAREST_EVEN:
            goes_up = half && (below || (kept & 1));
            break;
        case NEAREST_AWAY:
            goes_up = half;
            break;
        case DOWN:
            goes_up = is_negative && (half || below);
            break;
        case UP:
            goes_up = !is_negative && (half || below);
            break;
        default:
            break;
    }
    kept += goes_up;
    if (kept >> format.precision) {
        kept >>= 1;
        ++last;
    }
    auto whole = static_cast<std::uint64_t>(kept);
    if (!(whole >> fraction)) return sign | whole;  // subnormal
    std::int64_t biased = last + fraction - format.least + 1;
    if (biased > format.most - format.least + 1) {
        bool stays = mode == TO_ZERO || (mode == DOWN && !is_negative) || (mode == UP && is_negative);
        return sign | (stays ? infinite - 1 : infinite);
    }
    return sign | static_cast<std::uint64_t>(biased) << fraction | (whole & ((std::uint64_t{1} << fraction) - 1));
}

std::uint64_t rounded(double value, const Format& format, int mode) {
    int fraction = format.precision - 1;
    std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << (format.bits - 1) : 0;
    if (std::isnan(value)) return (std::uint64_t{1} << (format.bits - 1)) - 1;
    if (std::isinf(value)) return sign | static_cast<std::uint64_t>(format.most - format.least + 2) << fraction;
    int exponent = 0;
    double part = std::frexp(std::fabs(value), &exponent);
    return assembled(sign != 0, static_cast<std::uint64_t>(std::ldexp(part, 53)), exponent - 53, false, format, mode);
}

double wide_f16(std::uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : HUGE_VAL)
                  : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                 : std::ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

double wide_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

namespace {

// A sum of two doubles whose last bit is odd if it is not exact, so that it may be rounded again.
double odd_sum(double a, double b) {
    double sum = a + b;
    double back = sum - a;
    double rest = (a - (sum - back)) + (b - back);
    if (rest == 0 || !std::isfinite(sum) || (std::bit_cast<std::uint64_t>(sum) & 1)) return sum;
    return std::nextafter(sum, rest > 0 ? HUGE_VAL : -HUGE_VAL);
}

template <class T>
T directed(int mode, T (*compute)(T, T, T), T a, T b, T c) {
    static const int directions[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    int before = std::fegetround();
    std::fesetround(directions[mode]);
    T result = compute(a, b, c);
    std::fesetround(before);
    return result;
}

template <class T>
T add(T a, T b, T) {
    volatile T x = a, y = b;
    volatile T result = x + y;
    return result;
}
template <class T>
T subtract(T a, T b, T) {
    volatile T x = a, y = b;
    volatile T result = x - y;
    return result;
}
template <class T>
T multiply(T a, T b, T) {
    volatile T x = a, y = b;
    volatile T result = x * y;
    return result;
}
template <class T>
T divide(T a, T b, T) {
    volatile T x = a, y = b;
    volatile T result = x / y;
    return result;
}
template <class T>
T fuse(T a, T b, T c) {
    volatile T x = a, y = b, z = c;
    volatile T result = std::fma(static_cast<T>(x), static_cast<T>(y), static_cast<T>(z));
    return result;
}
template <class T>
T root(T a, T, T) {
    volatile T x = a;
    volatile T result = std::sqrt(static_cast<T>(x));
    return result;
}

}  // namespace

extern "C" {

#define DIRECTED(suffix, T, way, mode)                  \
    T ep_add_##suffix##_##way(T a, T b) {               \
        return directed<T>(mode, add<T>, a, b, 0);      \
    }                                                   \
    T ep_sub_##suffix##_##way(T a, T b) {               \
        return directed<T>(mode, subtract<T>, a, b, 0); \
    }                                                   \
    T ep_mul_##suffix##_##way(T a, T b) {               \
        return directed<T>(mode, multiply<T>, a, b, 0); \
    }                                                   \
    T ep_div_##suffix##_##way(T a, T b) {               \
        return directed<T>(mode, divide<T>, a, b, 0);   \
    }                                                   \
    T ep_fma_##suffix##_##way(T a, T b, T c) {          \
        return directed<T>(mode, fuse<T>, a, b, c);     \
    }                                                   \
    T ep_sqrt_##suffix##_##way(T a) {                   \
        return directed<T>(mode, root<T>, a, 0, 0);     \
    }                                                   \
    EXPORT(ep_add_##suffix##_##way);                    \
    EXPORT(ep_sub_##suffix##_##way);                    \
    EXPORT(ep_mul_##suffix##_##way);                    \
    EXPORT(ep_div_##suffix##_##way);                    \
    EXPORT(ep_fma_##suffix##_##way);                    \
    EXPORT(ep_sqrt_##suffix##_##way);
#define ALL_DIRECTIONS(suffix, T)    \
    DIRECTED(suffix, T, rz, TO_ZERO) \
    DIRECTED(suffix, T, rm, DOWN)    \
    DIRECTED(suffix, T, rp, UP)
ALL_DIRECTIONS(f32, float)
ALL_DIRECTIONS(f64, double)

#define FORMAT(name, format)                                             \
    std::uint32_t ep_round_##name(double value, int mode) {              \
        return static_cast<std::uint32_t>(rounded(value, format, mode)); \
    }                                                                    \
    EXPORT(ep_round_##name);
FORMAT(f16, F16)
FORMAT(bf16, BF16)
FORMAT(f32, F32)

#define OF_INTEGER(name, format)                                                           \
    std::uint64_t ep_integer_to_##name(std::int64_t value, int is_signed, int mode) {      \
        bool is_negative = is_signed && value < 0;                                         \
        auto size = static_cast<std::uint64_t>(value);                                     \
        return assembled(is_negative, is_negative ? -size : size, 0, false, format, mode); \
    }                                                                                      \
    EXPORT(ep_integer_to_##name);
OF_INTEGER(f16, F16)
OF_INTEGER(bf16, BF16)
OF_INTEGER(f32, F32)
OF_INTEGER(f64, F64)

std::uint16_t ep_fma_f16(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return static_cast<std::uint16_t>(rounded(odd_sum(wide_f16(a) * wide_f16(b), wide_f16(c)), F16, NEAREST_EVEN));
}
EXPORT(ep_fma_f16);
std::uint16_t ep_fma_bf16(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return static_cast<std::uint16_t>(rounded(odd_sum(wide_bf16(a) * wide_bf16(b), wide_bf16(c)), BF16, NEAREST_EVEN));
}
EXPORT(ep_fma_bf16);
}
