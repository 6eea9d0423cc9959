// Large products: all threads pack b once, and then take blocks of rows of it.
#include <cerrno>
#include <climits>

#include "job.h"

namespace {

using namespace ep::products;
using ep::ceil_div;

// Products of lanes below which panels of each thread's own cost no more than those that another one has packed, which
// its cache has to give away.
constexpr double LEAST = 1 << 29;
// Panels of columns that are packed at a time: rows of b are read as far as `pack` does.
constexpr int64_t PACKED_PANELS = 8, LEAST_PANELS = 8;
// Bytes of the sums of a block, which a core's own cache keeps beside panels: half of it, or of the usual ones.
int64_t most_sums() {
    return std::clamp(ep::OWN / 2, int64_t{512} << 10, int64_t{1} << 20);
}
// Depths of panels that a stripe may have, and parts of a launch.
constexpr int64_t MOST_DEPTHS = 64, MOST_PARTS = 4096;

// Columns of the output whose panels of b are shared, and how they are packed and multiplied.
struct Stripe {
    Job* job;
    int64_t batch, column, columns, across, groups, depths, down, blocks, parts;
    char* panels;
    // How small the elements of each depth's panels are.
    std::atomic<int> least[MOST_DEPTHS];

    int64_t depth(int64_t index) const {
        const int64_t most = depth_of(*job->tile);
        return std::min(most, job->plan->k - index * most);
    }
    // Where the panels of a depth begin.
    char* at(int64_t index) const {
        const ep::Tile& tile = *job->tile;
        return panels + index * tile.steps(depth_of(tile)) * across * tile.columns * tile.lane;
    }
    // These, or kept ones.
    Side right(int64_t index) const {
        const ep::Tile& tile = *job->tile;
        if (job->constant[EP_B].panels == nullptr) return {at(index), least[index].load(std::memory_order_relaxed)};
        return right_panels(*job, nullptr, index * depth_of(tile), depth(index), column, columns, nullptr, nullptr);
    }
};

// Sums from one row to the next: lines of a column would share few sets of a cache if rows were a power of two apart.
int64_t step_of(const ep::Tile& tile, int64_t across) {
    return across * tile.columns + ep::LINE / tile.sum;
}

// Columns that have room for their panels, as equal as they can be; 0 without room for a few.
int64_t stripe(const Job& job) {
    const ep_matmul_plan& g = *job.plan;
    const ep::Tile& tile = *job.tile;
    const int64_t depths = ceil_div(g.k, depth_of(tile)), steps = depths * tile.steps(depth_of(tile));
    const int64_t panel = tile.columns / tile.widths, rows = tile.block * tile.rows;
    const int64_t all = ceil_div(g.n, panel);
    const int64_t most =
        std::min(SHARED_BYTES / (steps * tile.columns * tile.lane), most_sums() / (rows * tile.columns * tile.sum));
    if (depths > MOST_DEPTHS || most < std::min(all, LEAST_PANELS)) return 0;
    return ceil_div(all, ceil_div(all, most)) * panel;
}

void pack(void* context, int part) {
    Stripe& s = *static_cast<Stripe*>(context);
    const ep_matmul_plan& g = *s.job->plan;
    const ep::Tile& tile = *s.job->tile;
    const int64_t index = part / s.groups, first = part % s.groups * PACKED_PANELS;
    const int64_t panels = std::min(PACKED_PANELS, s.across - first), depth = s.depth(index),
                  panel = tile.columns / tile.widths, steps = tile.steps(depth);
    const int64_t column = s.column + first * panel, k = index * depth_of(tile);
    char* const to = s.at(index) + first * steps * tile.columns * tile.lane;
    char* const memory = windows_of(g, EP_B) == nullptr ? nullptr : workspace();
    if (windows_of(g, EP_B) != nullptr && memory == nullptr) {
        s.job->status.store(ENOMEM, std::memory_order_relaxed);
        return;
    }
    pack_right(*s.job, matrix(g, s.job->at[EP_B], EP_B, s.batch, 0, g.kept), k, depth, column,
               std::min(panels * panel, s.column + s.columns - column), memory, to);
    if (tile.least == nullptr) return;
    const int own = least_of(tile, to, panels * steps * tile.columns);
    int least = s.least[index].load(std::memory_order_relaxed);
    while (own < least && !s.least[index].compare_exchange_weak(least, own, std::memory_order_relaxed)) {
    }
}

void multiply_block(const Stripe& s, int64_t block, char* memory) {
    const Job& job = *s.job;
    const ep_matmul_plan& g = *job.plan;
    const ep::Tile& tile = *job.tile;
    const int64_t row = s.down * block / s.blocks * tile.rows,
                  rows = std::min(s.down * (block + 1) / s.blocks * tile.rows, g.m) - row;
    const ep::Ending ending = ending_of(job, s.batch, row, s.column);
    const bool lie = job.is_plain && is_whole(job, rows, s.columns);
    char* const sums = lie ? ending.out : memory + A_BYTES + B_BYTES;
    const int64_t step = lie ? g.line[EP_OUT] / tile.sum : step_of(tile, s.across);
    const char* const a = matrix(g, job.at[EP_A], EP_A, s.batch, 0, g.kept) + row * g.line[EP_A];
    bool agrees = true;
    for (int64_t index = 0; index < s.depths; ++index) {
        const int64_t depth = s.depth(index), steps = tile.steps(depth);
        const Side left = left_panels(job, a + index * depth_of(tile) * g.column[EP_A], index * depth_of(tile), depth,
                                      row, rows, memory),
                   right = s.right(index);
        multiply_panels(tile, multiply_of(tile, left.least, right.least, agrees), left.at, right.at, rows, s.across,
                        steps, sums, step, index != 0, lie && g.has_bias ? &ending : nullptr);
    }
    if (!lie) finish(job, s.batch, row, s.column, sums, step, rows, s.columns);
}

void multiply(void* context, int part) {
    const Stripe& s = *static_cast<const Stripe*>(context);
    char* const memory = workspace();
    if (memory == nullptr) {
        s.job->status.store(ENOMEM, std::memory_order_relaxed);
        return;
    }
    const ep::Multiplying multiplying(*s.job->tile);
    const int64_t end = s.blocks * (part + 1) / s.parts;
    for (int64_t block = s.blocks * part / s.parts; block < end; ++block) multiply_block(s, block, memory);
}

}  // namespace

bool ep::products::is_shared(const Job& job) {
    const ep_matmul_plan& g = *job.plan;
    const double products = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
    const bool is_summed = (job.alpha[0] != 0 || job.alpha[1] != 0) && extents(g, g.kept, g.ndim) == 1;
    return products / job.tile->terms >= LEAST && is_summed && job.down > 1 && job.is_tiled && stripe(job) != 0;
}

int ep::products::multiply_shared(Job& job) {
    const ep_matmul_plan& g = *job.plan;
    const ep::Tile& tile = *job.tile;
    Stripe s = {};
    s.job = &job;
    s.panels = shared_panels();
    if (s.panels == nullptr) return ENOMEM;
    s.depths = ceil_div(g.k, depth_of(tile));
    s.down = ceil_div(g.m, tile.rows);
    s.blocks = std::min(s.down, round_up(ceil_div(s.down, tile.block), threads()));
    s.parts = std::min(s.blocks, MOST_PARTS);
    const int64_t most = stripe(job);
    for (s.batch = 0; s.batch < job.batches; ++s.batch)
        for (s.column = 0; s.column < g.n; s.column += most) {
            s.columns = std::min(most, g.n - s.column);
            s.across = ceil_div(s.columns * tile.widths, tile.columns);
            s.groups = ceil_div(s.across, PACKED_PANELS);
            for (int64_t i = 0; i < s.depths; ++i) s.least[i].store(INT_MAX, std::memory_order_relaxed);
            if (job.constant[EP_B].panels == nullptr) parallel(static_cast<int>(s.depths * s.groups), pack, &s);
            parallel(static_cast<int>(s.parts), multiply, &s);
        }
    return job.status.load(std::memory_order_relaxed);
}
