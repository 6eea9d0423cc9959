// Panels of constant factors, packed by the first launch that needs them, and read by all that come later.
#include "job.h"
#include "runtime/pool.h"

namespace {

using namespace ep::products;
using ep::ceil_div;

// What the first bytes of such memory say. A launch that finds another one packing goes without.
enum State { EMPTY, PACKING, PACKED };
// Panels that a thread packs at a time.
constexpr int64_t GROUP = 8;

// Elements and lanes of a panel's width, and of the factor's.
struct Width {
    int64_t elements, lanes, all;
};

Width width_of(const Job& job, int operand) {
    const ep::Tile& tile = *job.tile;
    if (operand == EP_A) return {tile.rows, tile.rows * tile.widths, job.plan->m};
    return {tile.columns / tile.widths, tile.columns, job.plan->n};
}

// Depths, and panels of each.
struct Counts {
    int64_t depths, panels;
};

Counts counts_of(const Job& job, int operand) {
    const Width width = width_of(job, operand);
    return {ceil_div(job.plan->k, depth_of(*job.tile)), ceil_div(width.all, width.elements)};
}

int64_t least_bytes(const Counts& counts) {
    return round_up(counts.depths * counts.panels * int64_t{sizeof(int)}, ep::LINE);
}

struct Packing {
    const Job& job;
    int operand;
    Width width;
    Constant to;
};

void pack(void* context, int part) {
    const auto& p = *static_cast<const Packing*>(context);
    const ep_matmul_plan& g = *p.job.plan;
    const ep::Tile& tile = *p.job.tile;
    const int64_t groups = ceil_div(p.to.count, GROUP), index = part / groups, first = part % groups * GROUP;
    const int64_t some = std::min(GROUP, p.to.count - first), most = depth_of(tile), k = index * most;
    const int64_t depth = std::min(most, g.k - k), steps = tile.steps(depth);
    const bool is_left = p.operand == EP_A;
    const int64_t by_width = is_left ? g.line[EP_A] : g.column[EP_B],
                  by_depth = is_left ? g.column[EP_A] : g.line[EP_B];
    const int64_t from = first * p.width.elements, elements = std::min(some * p.width.elements, p.width.all - from);
    (is_left ? tile.pack_left : tile.pack_right)({tile.storage, p.job.at[p.operand] + from * by_width + k * by_depth,
                                                  by_width, by_depth, elements, depth, g.conjugate[p.operand] != 0},
                                                 p.to.at(index, first, steps));
    for (int64_t i = first; i < first + some; ++i)
        p.to.least[index * p.to.count + i] = least_of(tile, p.to.at(index, i, steps), p.width.lanes * steps);
}

}  // namespace

int64_t ep::products::constant_bytes(const Job& job, int operand) {
    const Counts counts = counts_of(job, operand);
    const Tile& tile = *job.tile;
    const int64_t whole = counts.depths - 1, most = depth_of(tile);
    const int64_t steps = whole * tile.steps(most) + tile.steps(job.plan->k - whole * most);
    return EP_CONSTANT_STATE + least_bytes(counts) + counts.panels * steps * width_of(job, operand).lanes * tile.lane;
}

Constant ep::products::constant_panels(const Job& job, int operand, char* memory) {
    if (memory == nullptr) return {};
    const Width width = width_of(job, operand);
    const Counts counts = counts_of(job, operand);
    const Constant kept = {memory + EP_CONSTANT_STATE + least_bytes(counts),
                           reinterpret_cast<int*>(memory + EP_CONSTANT_STATE), counts.panels,
                           width.lanes * job.tile->lane, job.tile->steps(depth_of(*job.tile))};
    auto* const state = reinterpret_cast<int*>(memory);
    int found = __atomic_load_n(state, __ATOMIC_ACQUIRE);
    if (found == EMPTY &&
        __atomic_compare_exchange_n(state, &found, PACKING, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        Packing packing = {job, operand, width, kept};
        parallel(static_cast<int>(counts.depths * ceil_div(counts.panels, GROUP)), pack, &packing);
        __atomic_store_n(state, PACKED, __ATOMIC_RELEASE);
        found = PACKED;
    }
    return found == PACKED ? kept : Constant{};
}
