// Units: rows, or tiles of neighbouring columns, that threads take one by one; of few long ones they share the chunks.
#pragma once

#include <algorithm>

#include "passes.h"
#include "runtime/pool.h"

namespace ep {

// Exponentials cost more than a byte of memory does.
constexpr int64_t EXPONENTIAL = 4;

struct Units {
    const ep_softmax_plan* plan;
    const Passes* passes;
    RowForm form;
    char* at[EP_ROWS];
    int64_t tiles;  // in the last dimension across rows
    int64_t count;
    int64_t worth;  // parts

    Units(const ep_softmax_plan& g, const void* packed) : plan(&g), passes(&passes_of(g)), count(1) {
        for (int k = 0; k < EP_ROWS; ++k) at[k] = place_of(packed, g.place[k], g.offset[k]);
        const int64_t least = ceil_div(ceil_div(g.extent, CHUNKS), BLOCK) * BLOCK, chunk = std::max(PIECE, least);
        form = {g.row->from, g.extent, chunk, ceil_div(g.extent, chunk), {g.step[0], g.step[1], g.step[2]}, false};
        tiles = g.ndim == 0 ? 1 : ceil_div(g.shape[g.ndim - 1], passes->width);
        for (int d = 0; d < g.ndim; ++d) count *= d == g.ndim - 1 ? tiles : g.shape[d];
        worth = parts(EXPONENTIAL * g.traffic);
    }

    // False where threads share the chunks of a unit.
    bool are_taken_whole() const { return count >= worth || form.chunks == 1; }

    // The addresses of a unit, and how many rows it is.
    int64_t place(int64_t unit, char** to) const {
        for (int k = 0; k < EP_ROWS; ++k) to[k] = at[k];
        int64_t width = 1;
        for (int d = plan->ndim - 1; d >= 0; --d) {
            const bool is_tiled = d == plan->ndim - 1 && passes->width > 1;
            const int64_t extent = is_tiled ? tiles : plan->shape[d];
            int64_t index = unit % extent;
            unit /= extent;
            if (is_tiled) {
                index *= passes->width;
                width = std::min(passes->width, plan->shape[d] - index);
            }
            for (int k = 0; k < EP_ROWS; ++k) to[k] += index * plan->stride[k][d];
        }
        return width;
    }

    // How many units from this one on, before `end`, lie `next` bytes apart.
    int64_t along(int64_t unit, int64_t end) const {
        if (passes->width > 1 || plan->ndim == 0) return 1;
        const int64_t extent = plan->shape[plan->ndim - 1];
        return std::min(end - unit, extent - unit % extent);
    }
    void next(int64_t* steps) const {
        for (int k = 0; k < EP_ROWS; ++k) steps[k] = plan->ndim == 0 ? 0 : plan->stride[k][plan->ndim - 1];
    }

   private:
    static const Passes& passes_of(const ep_softmax_plan& g) {
        const auto& softmaxes = *static_cast<const Softmaxes*>(g.row->code);
        return g.columns != 0 ? softmaxes.columns : softmaxes.rows;
    }
};

// The one unit whose chunks threads share.
struct Shared {
    const Units* units;
    int parts;
    char* at[EP_ROWS];
    int64_t width;
    Measures measures;

    explicit Shared(const Units& all) : units(&all), parts(static_cast<int>(std::min(all.form.chunks, all.worth))) {}

    void measure(int64_t unit) {
        width = units->place(unit, at);
        parallel(parts, measure_chunks, this);
        units->passes->combine(units->form, width, measures.bytes);
    }
    int64_t first(int part) const { return units->form.chunks * part / parts; }

   private:
    static void measure_chunks(void* context, int part) {
        auto& own = *static_cast<Shared*>(context);
        const Units& all = *own.units;
        all.passes->measure(all.form, own.at, own.width, own.first(part), own.first(part + 1), own.measures.bytes);
    }
};

}  // namespace ep
