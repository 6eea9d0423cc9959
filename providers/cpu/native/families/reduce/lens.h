// How elements enter the states of reductions.
#pragma once

#include <cstdint>

namespace ep {

// States side by side that a row has where its elements are neighbours.
constexpr int64_t LANES = 32;

// How an element enters a state: its bits are masked by `keep`, then inverted where `flip` is set, or it is multiplied.
struct Lens {
    uint64_t keep, flip;
    double scale;
};

}  // namespace ep
