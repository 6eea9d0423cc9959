// AddN: blocks of all terms are added up while caches hold them, so that memory is passed over once.
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

// The sum of the terms but the last is in a block of its own: a term may lie where the output does.
void add_run(const ep_add_n_plan& g, char* const* at, const int64_t* step, int64_t n) {
    const ep_row& row = *g.sum;
    const int last = g.terms - 1;
    const bool is_large = g.traffic >= ep::STREAMING;
    // Terms take turns, so that no page is read for long enough for the machine to foresee the next one.
    const auto load = [&](int k, int64_t i, int64_t m, Block& block) {
        const char* const from = at[k] + i * step[k];
        if (is_large && step[k] == row.from->size)
            for (int64_t line = 0, ahead = m * step[k]; line < ahead; line += ep::LINE)
                __builtin_prefetch(from + ahead + line);
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
