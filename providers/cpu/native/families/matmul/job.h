// One launch of Matmul: how its output is cut, and the memory that a thread multiplies in.
#pragma once

#include <algorithm>
#include <atomic>

#include "runtime/pool.h"
#include "tiles.h"

namespace ep::products {

// A tile, whose panels of b and sums stay in the cache that cores share, and is gone through by blocks of rows, whose
// panels of a stay in a core's own; multiples of every panel's.
constexpr int64_t ROWS = 384, BLOCK_ROWS = 192;
constexpr int64_t COLUMN_BYTES = 3072;
constexpr int64_t A_BYTES = BLOCK_ROWS * DEPTH * 8, B_BYTES = (DEPTH + 1) * COLUMN_BYTES;
constexpr int64_t SUM_BYTES = ROWS * COLUMN_BYTES;
// Sums that are turned are read in squares, beyond the last one.
constexpr int64_t WORKSPACE = A_BYTES + B_BYTES + SUM_BYTES + LINE;

// A thread's panels of a, its panels of b, and its sums, in this order: allocated when first needed, kept for the next
// launch. Null without memory.
char* workspace();

// Panels of b that all threads read: so many of the calling thread, kept as well.
constexpr int64_t SHARED_BYTES = int64_t{4} << 20;
char* shared_panels();

// The windows that an operand's matrices are made of; null, if they have elements of their own.
inline const ep_windows* windows_of(const ep_matmul_plan& g, int operand) {
    return g.windowed == operand ? g.windows : nullptr;
}

// The elements of a sum that panels of a tile hold.
constexpr int64_t depth_of(const Tile& tile) {
    return DEPTH * tile.terms / tile.widths;
}

constexpr int64_t round_up(int64_t a, int64_t b) {
    return ceil_div(a, b) * b;
}

// Panels of a constant factor, which lie in memory from one launch to the next: those of each depth one after the
// other, and how small the elements of each of them are. Null where there are none.
struct Constant {
    char* panels;
    int* least;
    int64_t count;  // of a depth
    int64_t step;   // bytes of a panel for each step
    int64_t steps;  // of a whole depth

    char* at(int64_t depth, int64_t panel, int64_t own_steps) const {
        return panels + (depth * steps * count + panel * own_steps) * step;
    }
    int least_of(int64_t depth, int64_t panel, int64_t some) const {
        const int* const begin = least + depth * count + panel;
        return *std::min_element(begin, begin + some);
    }
};

// One launch, and how its output is cut into tiles of `rows` x `columns` elements.
struct Job {
    const ep_matmul_plan* plan;
    const Tile* tile;
    void (*run)(const Job&, int64_t batch, int64_t row, int64_t column, char* workspace);
    char* at[EP_MATRICES];
    bool is_constant[2];  // a and b, with room for their panels
    Constant constant[2];
    double alpha[2], beta[2];
    bool is_scaled, reads_out, is_row, is_few, is_lying, is_tiled, is_plain;
    int64_t rows, columns, down, across, batches, tiles;
    int parts;
    std::atomic<int> status;
};

// The place of an operand's matrix in batch number `index` of the dimensions [begin, end).
inline char* matrix(const ep_matmul_plan& g, char* at, int operand, int64_t index, int begin, int end) {
    for (int d = end - 1; d >= begin; --d) {
        at += index % g.extent[d] * g.stride[operand][d];
        index /= g.extent[d];
    }
    return at;
}

inline int64_t extents(const ep_matmul_plan& g, int begin, int end) {
    int64_t size = 1;
    for (int d = begin; d < end; ++d) size *= g.extent[d];
    return size;
}

// How small elements of so many lanes of panels are, where products depend on that.
inline int least_of(const Tile& tile, const char* panels, int64_t lanes) {
    return tile.least == nullptr ? 0 : tile.least(panels, lanes);
}

// How panels are multiplied whose elements of least size are so. Sums to which `otherwise` has added once may be too
// small for others: `agrees` is of all panels of a sum so far.
using Multiply = decltype(Tile::multiply);
inline Multiply multiply_of(const Tile& tile, int least_a, int least_b, bool& agrees) {
    if (tile.least == nullptr) return tile.multiply;
    agrees = agrees && tile.agrees(least_b, least_a);
    return agrees ? tile.multiply : tile.otherwise->multiply;
}

// A factor's panels, and how small their elements are.
struct Side {
    const char* at;
    int least;
};

// What becomes of sums from so many rows and columns on.
inline Ending ending_from(Ending ending, int64_t row, int64_t column) {
    ending.out += row * ending.line + column * ending.column;
    if (ending.bias != nullptr) ending.bias += row * ending.bias_line + column * ending.bias_column;
    return ending;
}

// Sums of `rows` rows and of all columns of `across` panels, or what is added to them; they end at once, while they are
// in the nearest cache, if there is an `ending`. On a processor that foresees nothing each panel of a brings a share of
// the next panel of b nearer.
inline void multiply_panels(const Tile& tile, Multiply multiply, const char* a, const char* b, int64_t rows,
                            int64_t across, int64_t steps, char* sums, int64_t step, bool adds,
                            const Ending* ending = nullptr) {
    const int64_t width = tile.columns / tile.widths;
    if (rows <= tile.wide) {
        tile.multiply_wide(a, b, across, steps, sums, step, static_cast<int>(rows), adds);
        if (ending != nullptr) tile.finish(*ending, sums, step, rows, across * width);
        return;
    }
    const int64_t down = ceil_div(rows, tile.rows), a_panel = tile.rows * tile.widths * steps * tile.lane,
                  b_panel = tile.columns * steps * tile.lane, share = b_panel / down / LINE * LINE;
    for (int64_t j = 0; j < across; ++j, b += b_panel)
        for (int64_t i = 0; i < down; ++i) {
            const int64_t row = i * tile.rows;
            char* const own = sums + (row * step + j * tile.columns) * tile.sum;
            multiply(a + i * a_panel, b, steps, own, step, static_cast<int>(rows - row), adds,
                     FORESEES ? b : b + b_panel + i * share);
            if (ending != nullptr)
                tile.finish(ending_from(*ending, row, j * width), own, step, std::min<int64_t>(tile.rows, rows - row),
                            width);
        }
}

// What becomes of sums of a batch from a row and a column on.
Ending ending_of(const Job& job, int64_t batch, int64_t row, int64_t column);

// Writes sums of `m` rows and `n` columns where they belong; see Tile::finish.
void finish(const Job& job, int64_t batch, int64_t row, int64_t column, void* sums, int64_t step, int64_t m, int64_t n);

// Panels of a's rows at `a`, so many elements of the sums from number k on: kept ones, if row number `row` is the
// first, or else packed at `room`.
Side left_panels(const Job& job, const char* a, int64_t k, int64_t depth, int64_t row, int64_t rows, char* room);

// Panels of b's matrix at `b`: of `columns` from `column` on, and of `depth` elements of the sums from number k on.
// Windows may need `room` for the panels of a.
void pack_right(const Job& job, const char* b, int64_t k, int64_t depth, int64_t column, int64_t columns, char* room,
                char* panels);

// The same of b's columns from `column` on, packed at `panels`.
Side right_panels(const Job& job, const char* b, int64_t k, int64_t depth, int64_t column, int64_t columns, char* room,
                  char* panels);

// The bytes that panels of a constant factor take.
int64_t constant_bytes(const Job& job, int operand);

// The panels of a constant factor that `memory` holds, which is packed now if nothing has been. Null without
// such memory, and while another launch packs it.
Constant constant_panels(const Job& job, int operand, char* memory);

// Whether b has left the caches by the next launch: more than half of the one that cores share, or, where nothing is
// foreseen, most of what threads have of their own.
bool is_far(const ep_matmul_plan& g);

// Whether a few rows of a, or as many as a panel has, meet b where it lies; and their sums, which are zeros or what is
// added to, of one tile of one batch.
using Sum = void(const Job& job, int64_t batch, int64_t row, int64_t column, char* sums, int64_t step, char* memory);
bool is_few(const ep_matmul_plan& g, const Tile& tile);
bool is_lying(const ep_matmul_plan& g, const Tile& tile);
Sum sum_few, sum_lying;

// Whether panels end where m rows of n columns do.
inline bool is_whole(const Job& job, int64_t m, int64_t n) {
    return job.tile->is_whole(m) && n * job.tile->widths % job.tile->columns == 0;
}

// Large products: all threads pack b once, and then take blocks of rows of it. The values are those of tiles.
bool is_shared(const Job& job);
int multiply_shared(Job& job);

}  // namespace ep::products
