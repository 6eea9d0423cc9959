// Tables of quarter turns, which the compiler makes of the text that others compute them by. Included once, not once
// per instruction set.
#pragma once

#include <cstdint>
#include <limits>

namespace ep {

using ep_f64 = double;
using ep_u64 = uint64_t;
#define EP_FN constexpr
#define EP_HAS_F64 1
#define EP_NAMED(name, type) name
#define EP_CONSTANT_TABLE(T, name, n) inline constexpr T name[n]
#define EP_NAN (std::numeric_limits<float>::quiet_NaN())
// clang-format off: an order of its own
#include "mathematics/begin_f64.h"
#include "mathematics/quarter_turns.inc"
#include "mathematics/end.h"
// clang-format on
#undef EP_FN
#undef EP_HAS_F64
#undef EP_NAMED
#undef EP_CONSTANT_TABLE
#undef EP_NAN

template <int parts, int lines>
struct QuarterTurns {
    double part[parts][lines] = {};

    constexpr explicit QuarterTurns(double turns(int, ep_u64)) {
        for (int k = 0; k < parts; ++k)
            for (int line = 0; line < lines; ++line) part[k][line] = turns(k, static_cast<ep_u64>(line));
    }
};

inline constexpr QuarterTurns<2, 130> FLOAT_TURNS(float_turns);
inline constexpr QuarterTurns<4, 1026> DOUBLE_TURNS(double_turns);

}  // namespace ep
