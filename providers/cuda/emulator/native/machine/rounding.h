// Exact values rounded to any binary format, in any direction.

#pragma once

#include <cstdint>

struct Format {
    int precision;  // bits of the significand, the hidden one among them
    int least;      // the exponent of the smallest normal number
    int most;       // the exponent of the largest
    int bits;
};
constexpr Format F16 = {11, -14, 15, 16}, BF16 = {8, -126, 127, 16}, F32 = {24, -126, 127, 32},
                 F64 = {53, -1022, 1023, 64};

enum Mode { NEAREST_EVEN, TO_ZERO, DOWN, UP, NEAREST_AWAY };

// The bits of +-size * 2^exponent in a format; `rest` says that the value is a little larger.
std::uint64_t assembled(bool is_negative, unsigned __int128 size, int exponent, bool rest, const Format& format,
                        int mode);
// The bits of a double in a format; NaN is the canonical one.
std::uint64_t rounded(double value, const Format& format, int mode);

// 16-bit floats as doubles, by their bits.
double wide_f16(std::uint16_t bits);
double wide_bf16(std::uint16_t bits);
