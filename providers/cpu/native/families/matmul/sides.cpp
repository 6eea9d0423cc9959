// The panels of both factors: kept ones of constants, or packed when they are needed.
#include <algorithm>

#include "job.h"

using ep::ceil_div;
using namespace ep::products;

Side ep::products::left_panels(const Job& job, const char* a, int64_t k, int64_t depth, int64_t row, int64_t rows,
                               char* room) {
    const ep_matmul_plan& g = *job.plan;
    const ep::Tile& tile = *job.tile;
    const Constant& constant = job.constant[EP_A];
    const int64_t steps = tile.steps(depth);
    if (constant.panels != nullptr) {
        const int64_t index = k / depth_of(tile), panel = row / tile.rows;
        return {constant.at(index, panel, steps), constant.least_of(index, panel, ceil_div(rows, tile.rows))};
    }
    if (const ep_windows* const windows = windows_of(g, EP_A); windows != nullptr) {
        const int64_t panel = tile.rows * steps * tile.lane;
        for (int64_t from = 0; from < rows; from += tile.rows)
            tile.bring_windows(*windows, a, tile.storage->size, k, depth, row + from,
                               std::min<int64_t>(tile.rows, rows - from), tile.rows, room + from / tile.rows * panel);
        return {room, 0};
    }
    tile.pack_left({tile.storage, a, g.line[EP_A], g.column[EP_A], rows, depth, g.conjugate[0] != 0}, room);
    return {room, least_of(tile, room, round_up(rows, tile.rows) * tile.widths * steps)};
}

Side ep::products::right_panels(const Job& job, const char* b, int64_t k, int64_t depth, int64_t column,
                                int64_t columns, char* room, char* panels) {
    const ep::Tile& tile = *job.tile;
    const Constant& constant = job.constant[EP_B];
    const int64_t steps = tile.steps(depth), across = ceil_div(columns * tile.widths, tile.columns);
    if (constant.panels != nullptr) {
        const int64_t index = k / depth_of(tile), panel = column * tile.widths / tile.columns;
        return {constant.at(index, panel, steps), constant.least_of(index, panel, across)};
    }
    pack_right(job, b, k, depth, column, columns, room, panels);
    return {panels, least_of(tile, panels, across * tile.columns * steps)};
}

void ep::products::pack_right(const Job& job, const char* b, int64_t k, int64_t depth, int64_t column, int64_t columns,
                              char* room, char* panels) {
    const ep_matmul_plan& g = *job.plan;
    const ep::Tile& tile = *job.tile;
    const ep_windows* const windows = windows_of(g, EP_B);
    if (windows == nullptr)
        return tile.pack_right({tile.storage, b + column * g.column[EP_B] + k * g.line[EP_B], g.column[EP_B],
                                g.line[EP_B], columns, depth, g.conjugate[1] != 0},
                               panels);
    const int64_t panel = tile.columns / tile.widths, size = tile.storage->size;
    // Panels of elements that are lanes are rows as they lie.
    const bool are_rows = tile.storage->is_direct && tile.lane == size && tile.terms == 1 && tile.ahead == 0;
    for (int64_t from = 0; from < columns; from += panel, panels += tile.steps(depth) * tile.columns * tile.lane) {
        const int64_t some = std::min(panel, columns - from);
        tile.bring_windows(*windows, b, size, k, depth, column + from, some, panel, are_rows ? panels : room);
        if (!are_rows) tile.pack_right({tile.storage, room, size, panel * size, some, depth, false}, panels);
    }
}
