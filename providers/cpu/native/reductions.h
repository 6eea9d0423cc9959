// What an instruction set has for Reduce and ArgReduce, as their drivers see it.
#pragma once

#include "native.h"
#include "storage.h"

namespace ep {

// States side by side that a row has where its elements are neighbours.
constexpr int64_t LANES = 128;
// Elements of neighbours that a row has, which has less lanes and all of them in registers.
constexpr int64_t LEAST_SHORT = 4, MOST_SHORT = 512;

// How an element enters a state: its bits are masked by `keep`, then inverted where `flip` is set, or it is multiplied.
struct Lens {
    uint64_t keep, flip;
    double scale;
};

// States and what joins them. A state stands for any number of elements; which states are joined makes up the tree of a
// sum. No operand overlaps another.
struct Joint {
    int64_t size;
    // n states of no element at all
    void (*start)(void* states, int64_t n);
    // `rows` times n contiguous elements, rows `step` elements apart: each into the state at its place of n. Four rows
    // are joined pairwise first.
    void (*take)(void* states, const void* elements, int64_t step, int64_t rows, int64_t n, const Lens& lens);
    // n contiguous elements each of `rows` rows, `across` elements apart: the states of `parts` of a row, one row after
    // the other. NULL: not for this op.
    void (*rows)(void* states, const void* elements, int64_t across, int64_t rows, int64_t n, int64_t parts,
                 const Lens& lens);
    void (*merge)(void* states, const void* others, int64_t n);
    // n states, a power of two up to 2 LANES, into the first `parts` by halves
    void (*fold)(void* states, int64_t n, int64_t parts);
};

}  // namespace ep

// One op for one pair of dtypes: elements come through `from` in the type that a state takes in, results leave by `to`.
struct ep_reducer {
    const char* op;
    const char* input;
    const char* output;
    const ep::Joint* joint;
    const ep_storage* from;
    const ep_storage* to;
    // n rows' states, each as many as an element has parts, into n results as `to` stores them; rows have `terms`
    // elements
    void (*finish)(const void* states, void* out, int64_t n, double terms, const ep::Lens& lens);
    ep::Lens lens;
    int64_t parts;
    // How many bytes of memory an element's work is worth.
    int64_t cost;
    bool is_zero_of_nothing;
    // Sums of squares in double, of which the driver takes roots so that nothing overflows on the way.
    bool has_scaled_root;
};

// The place of the first of the greatest elements, for one op and input type.
struct ep_seeker {
    const char* op;
    const char* input;
    const ep_storage* from;
    ep::Lens lens;
    // n lanes in which everything is better than what is there
    void (*start)(void* best, int64_t* place, int64_t n);
    // n lanes: the best element of `rows` contiguous rows, at most ep::SOUGHT, and in which of them it comes first
    void (*seek)(void* best, void* row, const void* elements, int64_t step, int64_t rows, int64_t n,
                 const ep::Lens& lens);
    // Keep the better one of two, the lesser place where they are equal: row r of lane i is at base + r * row_weight +
    // i * lane_weight.
    void (*adopt)(void* best, int64_t* place, const void* other, const void* row, int64_t base, int64_t row_weight,
                  int64_t lane_weight, int64_t n);
    void (*merge)(void* best, int64_t* place, const void* other, const int64_t* other_place, int64_t n);
    // n lanes into the first
    void (*fold)(void* best, int64_t* place, int64_t n);
};

namespace ep {

constexpr int64_t SOUGHT = 64;

struct Reducers {
    const ep_reducer* rows;
    int64_t count;
};
struct Seekers {
    const ep_seeker* rows;
    int64_t count;
};

extern const Reducers baseline_reducers;
extern const Reducers avx2_reducers;
extern const Reducers avx512_reducers;
extern const Seekers baseline_seekers;
extern const Seekers avx2_seekers;
extern const Seekers avx512_seekers;

}  // namespace ep
