// The launch of RandomFill: blocks of consecutive elements to wherever they lie, then the state.
#include "count.h"
#include "pool.h"
#include "storage.h"
#include "stream.h"

namespace {

struct Job {
    const ep_geometry* geometry;
    ep_draw draw;
    char* out;
    int64_t part;  // elements
};

// A word costs more than a byte of memory does.
constexpr int64_t COST = 4;

int64_t words_each(const ep_geometry& g) {
    return g.row->to->size == 8 ? 2 : 1;
}

// n elements from number `begin` on, to a run of the last dimension.
void fill_run(const Job& job, int64_t begin, char* at, int64_t step, int64_t n) {
    const ep_row& row = *job.geometry->row;
    const ep_storage& to = *row.to;
    const int64_t each = words_each(*job.geometry);
    ep_draw draw = job.draw;
    alignas(ep::LINE) char block[ep::BLOCK * sizeof(double)];
    const bool is_direct = to.is_direct && step == to.size;
    for (int64_t i = 0, m; i < n; i += m) {
        m = n - i < ep::BLOCK ? n - i : ep::BLOCK;
        draw.word = job.draw.word + static_cast<uint64_t>((begin + i) * each);
        char* const target = at + i * step;
        row.body(&draw, nullptr, is_direct ? target : block, m, nullptr, -1);
        if (!is_direct) to.store(block, target, step, m, false);
    }
}

// Elements [begin, end) in row-major order, by runs of the last dimension.
void fill_range(const Job& job, int64_t begin, int64_t end) {
    const ep_geometry& g = *job.geometry;
    const int last = g.ndim - 1;
    while (begin < end) {
        char* at = job.out;
        int64_t rest = begin;
        for (int d = last; d >= 0; --d) {
            at += rest % g.shape[d] * g.stride[0][d];
            rest /= g.shape[d];
        }
        const int64_t left = g.shape[last] - begin % g.shape[last], n = end - begin < left ? end - begin : left;
        fill_run(job, begin, at, g.stride[0][last], n);
        begin += n;
    }
}

void fill_part(void* context, int i) {
    const auto& job = *static_cast<const Job*>(context);
    const int64_t begin = i * job.part, size = job.geometry->size;
    fill_range(job, begin, size - begin < job.part ? size : begin + job.part);
}

}  // namespace

extern "C" int ep_random_fill(const void* packed) {
    const auto& p = *static_cast<const ep_random_packed*>(packed);
    const ep_geometry& g = *p.geometry;
    ep::count_call();
    auto* const state = reinterpret_cast<uint64_t*>(p.state);
    Job job = {&g, {state[0], state[1], p.low, p.bound}, reinterpret_cast<char*>(p.out + g.offset[0]), g.size};
    const int count = g.ndim == 0 ? 1 : ep::parts(COST * g.traffic);
    if (g.ndim == 0) {
        fill_run(job, 0, job.out, g.row->to->size, 1);
    } else if (count <= 1) {
        fill_range(job, 0, g.size);
    } else {
        // Whole blocks of words and whole lines of every dtype.
        job.part = ((g.size + count - 1) / count + 255) / 256 * 256;
        ep::parallel(static_cast<int>((g.size + job.part - 1) / job.part), fill_part, &job);
    }
    state[1] += static_cast<uint64_t>(g.size * words_each(g));
    return 0;
}

extern "C" int ep_launch_random_fill(const ep_geometry* geometry, intptr_t state, intptr_t out, uint64_t low,
                                     uint64_t bound) {
    const ep_random_packed packed = {geometry, state, out, low, bound};
    return ep_random_fill(&packed);
}
