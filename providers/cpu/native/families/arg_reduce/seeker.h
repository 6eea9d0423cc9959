// ArgReduce's functions for an instruction set, as its launch sees them.
#pragma once

#include "families/reduce/lens.h"
#include "families/reduce/rows.h"
#include "types/storage.h"

namespace ep {

constexpr int64_t SOUGHT = 64;

// The code of a row: the place of the first of the greatest elements that come through `from`. Places leave by `to`.
struct Seeker {
    Lens lens;
    // n lanes of the identity: any element is better
    void (*start)(void* best, int64_t* place, int64_t n);
    // n lanes: the best element of `rows` contiguous rows, at most SOUGHT, and in which of them it comes first
    void (*seek)(void* best, void* row, const void* elements, int64_t step, int64_t rows, int64_t n, const Lens& lens);
    // Keep the better one of two, the lesser place where they are equal: row r of lane i is at base + r * row_weight +
    // i * lane_weight.
    void (*adopt)(void* best, int64_t* place, const void* other, const void* row, int64_t base, int64_t row_weight,
                  int64_t lane_weight, int64_t n);
    void (*merge)(void* best, int64_t* place, const void* other, const int64_t* other_place, int64_t n);
    // the place of the best of n contiguous elements, at least one
    int64_t (*seek_row)(const void* elements, int64_t n, const Lens& lens);
};

// The entry of the rows.
int arg_reduce(const void* packed);

}  // namespace ep
