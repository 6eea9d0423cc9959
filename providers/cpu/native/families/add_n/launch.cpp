// AddN: blocks of all terms are added up while caches hold them, so that memory is passed over once.
#include <algorithm>

#include "add_n.h"
#include "families/elementwise/elementwise.h"
#include "runtime/count.h"
#include "runtime/pool.h"
#include "runtime/stream.h"
#include "runtime/walk.h"

namespace {

#include "types/block.h"

constexpr double NO_ATTRIBUTES[EP_ATTRIBUTES] = {};

struct Job {
    const ep_add_n_plan* plan;
    char* at[EP_PLACES];
    int64_t part;  // elements
};

// Terms take turns, so that no page is read for long enough for the machine to foresee the next one.
void fetch(const char* from, int64_t nbytes) {
    for (int64_t line = 0; line < nbytes; line += ep::LINE) __builtin_prefetch(from + line);
}

bool is_dense(const ep_add_n_plan& g, const int64_t* step) {
    return std::all_of(step, step + g.terms + 1, [&](int64_t own) { return own == g.row->to->size; });
}

// Terms that lie side by side as they are stored.
void add_dense(const ep_add_n_plan& g, const ep::Adder& adder, char* const* at, int64_t n) {
    const int64_t size = adder.words->size;
    const bool is_streaming = streams(g.traffic, g.terms + 1, at, n), is_large = g.traffic >= ep::FETCHING;
    Target out(*adder.words, at[g.terms], size, is_streaming);
    const char* from[EP_TERMS];
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        Later later;
        const bool has_room = is_large && out.has_room();
        for (int k = 0; k < g.terms; ++k) {
            from[k] = at[k] + i * size;
            if (has_room) later.add(from[k], m * size);
            if (is_large && !has_room) fetch(from[k] + m * size, m * size);
        }
        adder.run(from, g.terms, out.block(), m);
        has_room ? out.flush(m, later) : out.flush(m);
    }
}

// The sum of the terms but the last is in a block of its own: a term may lie where the output does.
void add_run(const ep_add_n_plan& g, char* const* at, const int64_t* step, int64_t n) {
    if (const auto* const adder = static_cast<const ep::Adder*>(g.row->code); adder != nullptr && is_dense(g, step))
        return add_dense(g, *adder, at, n);
    const ep_row& row = *g.sum;
    const int last = g.terms - 1;
    const bool is_large = g.traffic >= ep::FETCHING;
    const auto load = [&](int k, int64_t i, int64_t m, Block& block) {
        const char* const from = at[k] + i * step[k];
        if (is_large && step[k] == row.from->size) fetch(from + m * step[k], m * step[k]);
        return row.from->load(from, step[k], m, block.bytes);
    };
    Target out(*row.to, at[g.terms], step[g.terms], streams(g.traffic, g.terms + 1, at, n));
    Block sum, next;
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        const void* so_far = load(0, i, m, sum);
        for (int k = 1; k < last; ++k) {
            row.body(so_far, load(k, i, m, next), sum.bytes, m, NO_ATTRIBUTES, -1);
            so_far = sum.bytes;
        }
        row.body(so_far, last == 0 ? so_far : load(last, i, m, next), out.block(), m, NO_ATTRIBUTES, -1);
        out.flush(m);
    }
}

void add_range(const Job& job, int64_t begin, int64_t end) {
    const ep_add_n_plan& g = *job.plan;
    ep::walk<EP_PLACES>(g.shape, g.stride, g.ndim, g.terms + 1, job.at, begin, end,
                        [&](char* const* at, const int64_t* step, int64_t n) { add_run(g, at, step, n); });
    if (g.traffic >= ep::STREAMING) ep::stream_done();
}

void add_part(void* context, int i) {
    const auto& job = *static_cast<const Job*>(context);
    const int64_t begin = i * job.part, size = job.plan->size;
    add_range(job, begin, size - begin < job.part ? size : begin + job.part);
}

}  // namespace

int ep::add_n(const void* packed) {
    const auto& g = plan_of<ep_add_n_plan>(packed);
    ep::count_call();
    Job job;
    job.plan = &g;
    for (int k = 0; k <= g.terms; ++k) job.at[k] = place_of(packed, k, g.offset[k]);
    const int count = ep::parts(g.traffic);
    if (count <= 1) {
        add_range(job, 0, g.size);
        return 0;
    }
    // Whole lines of every dtype, so that two threads do not write one line of a dense output.
    job.part = ((g.size + count - 1) / count + 63) / 64 * 64;
    ep::parallel(static_cast<int>((g.size + job.part - 1) / job.part), add_part, &job);
    return 0;
}
