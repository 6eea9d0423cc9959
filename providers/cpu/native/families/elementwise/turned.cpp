// Inputs whose neighbours lie along the last dimension but one, as those of a transposed matrix do: tiles of them are
// turned, and rows of these go through the loops of all others.
#include <algorithm>

#include "elementwise.h"
#include "families/transpose/transposer.h"

namespace {

// Of a turned tile, each in the second cache beside what its rows become.
constexpr int64_t COLUMNS = 128, NBYTES = 32 << 10;

const ep::Transposer& transposer_of(const ep_geometry& g, int k) {
    return *static_cast<const ep::Transposer*>(g.turned[k]->code);
}

// Turns a tile of an input that begins at `at` into rows of COLUMNS elements.
void turn(const ep_geometry& g, int k, const char* at, int64_t rows, int64_t columns, char* turned) {
    const ep::Transposer& transposer = transposer_of(g, k);
    const int64_t size = transposer.size, across = g.stride[k][g.ndim - 1];
    const ep::Blocks& most = transposer.blocks;
    for (int64_t c = 0; c < columns; c += most.height)
        for (int64_t r = 0; r < rows; r += most.width)
            most.move({at + r * size + c * across, turned + (r * COLUMNS + c) * size, across, COLUMNS * size,
                       std::min(most.width, rows - r), std::min(most.height, columns - c), false, nullptr});
}

}  // namespace

ep::Tiles::Tiles(const ep_geometry& geometry) : g_(geometry), rows_(COLUMNS) {
    const int last = g_.ndim - 1;
    for (int k = 0; k < g_.operands; ++k)
        if (g_.turned[k] != nullptr) rows_ = std::min(rows_, NBYTES / (COLUMNS * transposer_of(g_, k).size));
    along_ = (g_.shape[last] + COLUMNS - 1) / COLUMNS;
    down_ = (g_.shape[last - 1] + rows_ - 1) / rows_;
    count_ = along_ * down_;
    for (int d = 0; d < last - 1; ++d) count_ *= g_.shape[d];
}

void ep::Tiles::walk(char* const* places, int64_t begin, int64_t end) const {
    const int last = g_.ndim - 1;
    alignas(LINE) char turned[EP_OPERANDS - 1][NBYTES];
    for (int64_t tile = begin; tile < end; ++tile) {
        const int64_t column = tile % along_ * COLUMNS, row = tile / along_ % down_ * rows_;
        const int64_t columns = std::min(COLUMNS, g_.shape[last] - column),
                      rows = std::min(rows_, g_.shape[last - 1] - row);
        char* at[EP_OPERANDS];
        int64_t down[EP_OPERANDS], step[EP_OPERANDS];
        for (int k = 0; k < g_.operands; ++k) {
            down[k] = g_.stride[k][last - 1];
            step[k] = g_.stride[k][last];
            at[k] = places[k] + column * step[k] + row * down[k];
            int64_t rest = tile / (along_ * down_);
            for (int d = last - 2; d >= 0; rest /= g_.shape[d], --d) at[k] += rest % g_.shape[d] * g_.stride[k][d];
            if (g_.turned[k] == nullptr) continue;
            turn(g_, k, at[k], rows, columns, turned[k]);
            at[k] = turned[k];
            step[k] = transposer_of(g_, k).size;
            down[k] = COLUMNS * step[k];
        }
        for (int64_t r = 0; r < rows; ++r) {
            g_.row->loop(&g_, at, step, columns);
            for (int k = 0; k < g_.operands; ++k) at[k] += down[k];
        }
    }
}
