// Functions that the hardware computes roughly: here as roughly as the PTX reference (9.0, floating-point instructions)
// allows, by an error that the argument and EP_CUDA_EMULATOR_SEED decide. Accuracy that is seen here is a worst case.

#include <bit>
#include <cmath>

#include "machine/exports.h"
#include "machine/machine.h"
#include "machine/rounding.h"

namespace {

constexpr double HALF_ULP = 0x1p-24;

// Between -1 and 1, the same for equal arguments.
double disturbance(std::uint64_t bits, std::uint64_t verb) {
    std::uint64_t x = seed() ^ (bits * 0x9e3779b97f4a7c15) ^ (verb << 56);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>(static_cast<std::int64_t>(x ^ (x >> 31))) * 0x1p-63;
}

float relative(double exact, double bound, float argument, std::uint64_t verb) {
    if (exact == 0 || !std::isfinite(exact)) return static_cast<float>(exact);
    double amount = disturbance(std::bit_cast<std::uint32_t>(argument), verb) * (bound - HALF_ULP);
    return static_cast<float>(exact * (1 + amount));
}

float absolute(double exact, double bound, float argument, std::uint64_t verb) {
    if (!std::isfinite(exact)) return static_cast<float>(exact);
    double amount = disturbance(std::bit_cast<std::uint32_t>(argument), verb);
    return static_cast<float>(exact + amount * (bound - HALF_ULP * std::fabs(exact)));
}

double upper_half(double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xffffffff00000000);
}

double distance_of_angle(float x) {
    constexpr double PI = 3.14159265358979323846;
    return std::fabs(x) <= 2 * PI ? 0x1p-20 * M_SQRT1_2 : 0x1p-14 * 0.6155722066724582;  // 2^-20.5, 2^-14.7
}

}  // namespace

extern "C" {

float ep_ex2_approx_f32(float x) {
    return x == 0 ? 1.0f : relative(std::exp2(static_cast<double>(x)), 0x1p-22, x, 1);
}
EXPORT(ep_ex2_approx_f32);
float ep_lg2_approx_f32(float x) {
    double exact = std::log2(static_cast<double>(x));
    if (x == 1) return 0.0f;
    return x > 0.5f && x < 2.0f ? absolute(exact, 0x1p-22, x, 2) : relative(exact, 0x1p-22, x, 2);
}
EXPORT(ep_lg2_approx_f32);
float ep_sin_approx_f32(float x) {
    return x == 0 ? x : absolute(std::sin(static_cast<double>(x)), distance_of_angle(x), x, 3);
}
EXPORT(ep_sin_approx_f32);
float ep_cos_approx_f32(float x) {
    return x == 0 ? 1.0f : absolute(std::cos(static_cast<double>(x)), distance_of_angle(x), x, 4);
}
EXPORT(ep_cos_approx_f32);
float ep_rcp_approx_f32(float x) {
    return relative(1 / static_cast<double>(x), 0x1p-23, x, 5);
}
EXPORT(ep_rcp_approx_f32);
float ep_rsqrt_approx_f32(float x) {
    return relative(x == 0 ? std::copysign(HUGE_VAL, x) : 1 / std::sqrt(static_cast<double>(x)),
                    0x1p-22 * 0.5358867312681466, x, 6);  // 2^-22.9
}
EXPORT(ep_rsqrt_approx_f32);
float ep_sqrt_approx_f32(float x) {
    return relative(std::sqrt(static_cast<double>(x)), 0x1p-23, x, 7);
}
EXPORT(ep_sqrt_approx_f32);
float ep_tanh_approx_f32(float x) {
    return relative(std::tanh(static_cast<double>(x)), 0x1p-11, x, 8);
}
EXPORT(ep_tanh_approx_f32);

// Two units in the last place; where the divisor is larger than 2^126 the fast one gives zero.
float ep_div_approx(float a, float b) {
    double size = std::fabs(static_cast<double>(b));
    if (size > 0x1p126 && size <= 0x1p128) return std::isinf(a) ? NAN : std::copysign(0.0f, a * std::copysign(1.0f, b));
    return relative(static_cast<double>(a) / b, 0x1p-23, a * 0.7f + b, 9);
}
EXPORT(ep_div_approx);
float ep_div_full(float a, float b) {
    return relative(static_cast<double>(a) / b, 0x1p-23, a * 0.7f + b, 10);
}
EXPORT(ep_div_full);

// Less by what rounding to 16 bits adds: 2^-9.9, 2^-10.987, 2^-7 and 2^-8 in all.
float ep_ex2_approx_f16(float x) {
    return relative(std::exp2(static_cast<double>(x)), 0x1p-9 * 0.5358867312681466 - 0x1p-11, x, 11);
}
EXPORT(ep_ex2_approx_f16);
float ep_tanh_approx_f16(float x) {
    return absolute(std::tanh(static_cast<double>(x)), 0x1p-12, x, 12);
}
EXPORT(ep_tanh_approx_f16);
float ep_ex2_approx_bf16(float x) {
    return relative(std::exp2(static_cast<double>(x)), 0x1p-8, x, 13);
}
EXPORT(ep_ex2_approx_bf16);
float ep_tanh_approx_bf16(float x) {
    return absolute(std::tanh(static_cast<double>(x)), 0x1p-9, x, 14);
}
EXPORT(ep_tanh_approx_bf16);

// Of the argument and of the result the upper 32 bits alone.
double ep_rcp_approx_f64(double x) {
    if (std::fabs(x) < 0x1p-1022) return std::copysign(HUGE_VAL, x);
    double result = 1 / upper_half(x);
    return std::fabs(result) < 0x1p-1022 ? std::copysign(0.0, result) : upper_half(result);
}
EXPORT(ep_rcp_approx_f64);
double ep_rsqrt_approx_f64(double x) {
    if (std::fabs(x) < 0x1p-1022) return std::copysign(HUGE_VAL, x);
    return upper_half(1 / std::sqrt(upper_half(x)));
}
EXPORT(ep_rsqrt_approx_f64);
}
