// The interface between the launch of TopK and its choice for each instruction set.
#pragma once

#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// An element as a number of its order, and its place in the row.
struct Candidate {
    int64_t key, place;
};

struct ComesBefore {
    bool operator()(const Candidate& a, const Candidate& b) const {
        return a.key > b.key || (a.key == b.key && a.place < b.place);
    }
};

// The code of a row of the table: it leaves the best k at the front of `found`, which has `room`, in any order.
struct Chooser {
    void (*choose)(const ep_top_k_plan& g, const char* x, Candidate* found);
};

// Elements that are looked through together: few are better than the best k of a long row so far.
constexpr int64_t TOGETHER = 64;
// The most that are sought in a sieve.
constexpr int64_t MOST_SIEVED = 256;

// The lanes of a sieve, at least four for each of the best k.
constexpr int64_t lanes_of(int64_t k) {
    return TOGETHER * ((k + 15) / 16);
}

// Whether a row goes through a sieve: its elements are neighbours, and many for each lane.
inline bool is_sieved(const ep_top_k_plan& g) {
    return g.step[EP_TOP_X] == g.itemsize && g.k <= MOST_SIEVED && g.extent >= 4 * lanes_of(g.k);
}

// The entry of the rows.
int top_k(const void* packed);

}  // namespace ep
