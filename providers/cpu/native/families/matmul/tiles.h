// Matmul: its launch, and the innermost products, for each type that sums are kept in.
#pragma once

#include "runtime/native.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// A panel of a holds `rows` values for each step of the depth, one of b `columns`.
struct Tile {
    int rows, columns;
    // sums += a panel @ b panel, for the first `count` rows of the panel or a few more; rows of sums are `step` apart.
    void (*multiply)(const void* a, const void* b, int64_t depth, void* sums, int64_t step, int count);
    // sums += the first row of an a panel @ b, read in place: its rows are dense and `b_step` elements apart. Only
    // columns that fill whole panels are computed; returns their number.
    int64_t (*multiply_row)(const void* a, const void* b, int64_t b_step, int64_t depth, void* sums, int64_t columns);
};

// The entry of the rows, whose code is a Tile.
int matmul(const void* packed);

}  // namespace ep
