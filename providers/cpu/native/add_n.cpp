// AddN: blocks of all terms are added up while caches hold them, so that memory is passed over once.
#include "count.h"
#include "pool.h"
#include "storage.h"
#include "stream.h"
#include "walk.h"

namespace {

#include "block.h"

constexpr int PLACES = EP_TERMS + 1;
constexpr double NO_ATTRIBUTES[EP_ATTRIBUTES] = {};

struct Job {
    const ep_terms* terms;
    char* at[PLACES];
    int64_t part;  // elements
};

// The sum of the terms but the last is in a block of its own: a term may lie where the output does.
void add_run(const ep_terms& g, char* const* at, const int64_t* step, int64_t n) {
    const ep_row& row = *g.row;
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
    out.done();
}

void add_range(const Job& job, int64_t begin, int64_t end) {
    const ep_terms& g = *job.terms;
    ep::walk<PLACES>(g.shape, g.stride, g.ndim, g.terms + 1, job.at, begin, end,
                     [&](char* const* at, const int64_t* step, int64_t n) { add_run(g, at, step, n); });
}

void add_part(void* context, int i) {
    const auto& job = *static_cast<const Job*>(context);
    const int64_t begin = i * job.part, size = job.terms->size;
    add_range(job, begin, size - begin < job.part ? size : begin + job.part);
}

}  // namespace

extern "C" int ep_launch_add_n(const ep_terms* terms, const intptr_t* at) {
    ep::count_call();
    Job job;
    job.terms = terms;
    for (int k = 0; k <= terms->terms; ++k) job.at[k] = reinterpret_cast<char*>(at[k] + terms->offset[k]);
    const int count = ep::parts(terms->traffic);
    if (count <= 1) {
        add_range(job, 0, terms->size);
        return 0;
    }
    // Whole lines of every dtype, so that two threads do not write one line of a dense output.
    job.part = ((terms->size + count - 1) / count + 63) / 64 * 64;
    ep::parallel(static_cast<int>((terms->size + job.part - 1) / job.part), add_part, &job);
    return 0;
}

extern "C" int ep_add_terms(const void* packed) {
    const auto& p = *static_cast<const ep_terms_packed*>(packed);
    return ep_launch_add_n(p.terms, p.at);
}
