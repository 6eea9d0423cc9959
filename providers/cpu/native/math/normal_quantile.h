// The quantile function of the standard normal distribution, and normal numbers by it.
#pragma once

#include "logarithm.h"

template <class T>
struct Quotient;
#define EP_SHARED "mathematics/normal_quantile.inc"
#include "shared/each.h"

// The normal number of a word: u = (v + 1/2) / 2^b, v the top b bits, by its distances from the middle and from the
// nearer end, which are exact or rounded once.
template <class T, class W>
EP_INLINE T normal_of(W word) {
    constexpr int spare = sizeof(T) == 8 ? 12 : 0, top = 8 * sizeof(T) - 1;
    constexpr T step = T{1} / static_cast<T>(W{1} << (top - spare)) / T{2};
    // v - 2^(b - 1): its bits are v's with the first one inverted. As signed numbers: vectors convert these
    // faster.
    const auto from_middle = static_cast<std::make_signed_t<W>>(word ^ W{1} << top) >> spare;
    const auto from_end = static_cast<std::make_signed_t<W>>((from_middle < 0 ? word : ~word) >> spare);
    return normal_quantile((static_cast<T>(from_middle) + T(0.5)) * step, (static_cast<T>(from_end) + T(0.5)) * step);
}
