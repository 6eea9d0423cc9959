// How many quarter turns a power of two is: 2^e * 2/pi mod 4, in parts that a mantissa is multiplied by. With the table
// the reduction of any angle, however large, is a few products (after Payne and Hanek 1983).
#pragma once

#include <cstdint>
#include <limits>

namespace ep {

// The digits of 2/pi after the point, after 64 zeros.
inline constexpr uint64_t TWO_OVER_PI[] = {0,
                                           0xA2F9836E4E441529U,
                                           0xFC2757D1F534DDC0U,
                                           0xDB6295993C439041U,
                                           0xFE5163ABDEBBC561U,
                                           0xB7246E3A424DD2E0U,
                                           0x06492EEA09D1921CU,
                                           0xFE1DEB1CB129A73EU,
                                           0xE88235F52EBB4484U,
                                           0xE99C7026B45F7E41U,
                                           0x3991D639835339F4U,
                                           0x9C845F8BBDF9283BU,
                                           0x1FF897FFDE05980FU,
                                           0xEF2F118B5A0A6D1FU,
                                           0x6D367ECF27CB09B7U,
                                           0x4F463F669E5FEA2DU,
                                           0x7527BAC7EBE5F17BU,
                                           0x3D0739F78A5292EAU,
                                           0x6BFB5FB11F8D5D08U,
                                           0x56033046FC7B6BABU,
                                           0xF0CFBC209AF4361DU};

// `count` digits, from the one of weight 2^-(first + 1) on, as an integer.
constexpr uint64_t digits_of_two_over_pi(int first, int count) {
    const int at = first + 64, word = at / 64, shift = at % 64;
    const uint64_t next = shift == 0 ? 0 : TWO_OVER_PI[word + 1] >> (64 - shift);
    return (TWO_OVER_PI[word] << shift | next) >> (64 - count);
}

constexpr double power_of_half(int n) {
    double value = 1;
    for (int i = 0; i < n; ++i) value *= 0.5;
    return value;
}

// For angles of `fraction` + 1 digits and exponents from -1 on: parts of `first` digits and then of 53. If the angle's
// last digit has weight 1, the first part begins at weight 2. The entry after the last one is for infinity and NaN.
template <int fraction, int exponents, int first, int parts>
struct QuarterTurns {
    double part[parts][exponents + 1] = {};

    constexpr QuarterTurns() {
        double scale = 2 * power_of_half(first - 1);
        for (int i = 0; i < fraction; ++i) scale *= 2;
        int digit = -1 - fraction - 2, count = first;
        for (int k = 0; k < parts; ++k) {
            for (int e = 0; e < exponents; ++e)
                part[k][e] = static_cast<double>(digits_of_two_over_pi(digit + e, count)) * scale;
            part[k][exponents] = std::numeric_limits<double>::quiet_NaN();
            digit += count, count = 53, scale *= power_of_half(count);
        }
    }
};

// The product of 24 and 29 digits is exact in double; 212 digits leave some beyond the 62 that may cancel.
inline constexpr QuarterTurns<23, 129, 29, 2> FLOAT_TURNS;
inline constexpr QuarterTurns<52, 1025, 53, 4> DOUBLE_TURNS;

}  // namespace ep
