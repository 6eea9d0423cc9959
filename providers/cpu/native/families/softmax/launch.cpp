// The launch of softmaxes: rows, or tiles of neighbouring columns, shared among threads; where these are few, chunks.
#include <algorithm>

#include "passes.h"
#include "runtime/count.h"
#include "runtime/kept.h"
#include "runtime/pool.h"
#include "runtime/stream.h"

namespace {

struct Terms;

using ep::ceil_div;
// Exponentials cost more than a byte of memory does.
constexpr int64_t COST = 4;

struct Job {
    const ep_softmax_plan* plan;
    const ep::Passes* passes;
    ep::RowForm form;
    char* at[EP_ROWS];
    int64_t tiles;  // in the last dimension across rows
    int64_t units;  // rows, or tiles of columns
    int parts;
    // For the one unit whose chunks threads share:
    char* unit_at[EP_ROWS];
    int64_t width;
    ep::Measures measures;
};

// The addresses of a unit, and how many rows it is.
int64_t place(const Job& job, int64_t unit, char** at) {
    const ep_softmax_plan& g = *job.plan;
    for (int k = 0; k < EP_ROWS; ++k) at[k] = job.at[k];
    int64_t width = 1;
    for (int d = g.ndim - 1; d >= 0; --d) {
        const bool is_tiled = d == g.ndim - 1 && job.passes->width > 1;
        const int64_t extent = is_tiled ? job.tiles : g.shape[d];
        int64_t index = unit % extent;
        unit /= extent;
        if (is_tiled) {
            index *= job.passes->width;
            width = std::min(job.passes->width, g.shape[d] - index);
        }
        for (int k = 0; k < EP_ROWS; ++k) at[k] += index * g.stride[k][d];
    }
    return width;
}

void run_units(void* context, int part) {
    const Job& job = *static_cast<const Job*>(context);
    const ep_softmax_plan& g = *job.plan;
    const int last = g.ndim - 1;
    int64_t next[EP_ROWS];
    for (int k = 0; k < EP_ROWS; ++k) next[k] = last < 0 ? 0 : g.stride[k][last];
    const int64_t end = job.units * (part + 1) / job.parts;
    for (int64_t unit = job.units * part / job.parts, count; unit < end; unit += count) {
        char* at[EP_ROWS];
        const int64_t width = place(job, unit, at);
        // Rows along the last dimension, as far as it goes.
        count = job.passes->width > 1 || last < 0 ? 1 : std::min(end - unit, g.shape[last] - unit % g.shape[last]);
        job.passes->whole(job.form, at, width, count, next);
    }
    if (job.form.streams) ep::stream_done();
}

void measure_chunks(void* context, int part) {
    Job& job = *static_cast<Job*>(context);
    const int64_t chunks = job.form.chunks;
    job.passes->measure(job.form, job.unit_at, job.width, chunks * part / job.parts, chunks * (part + 1) / job.parts,
                        job.measures.bytes);
}

void finish_chunks(void* context, int part) {
    const Job& job = *static_cast<const Job*>(context);
    const int64_t chunks = job.form.chunks;
    job.passes->finish(job.form, job.unit_at, job.width, chunks * part / job.parts, chunks * (part + 1) / job.parts,
                       job.measures.bytes);
    if (job.form.streams) ep::stream_done();
}

const ep::Passes& passes_of(const ep_softmax_plan& g) {
    const auto& softmaxes = *static_cast<const ep::Softmaxes*>(g.row->code);
    return g.columns != 0 ? softmaxes.columns : softmaxes.rows;
}

ep::RowForm form_of(const ep_softmax_plan& g, char* const* at) {
    const int64_t least = ceil_div(ceil_div(g.extent, ep::CHUNKS), ep::BLOCK) * ep::BLOCK;
    const int64_t chunk = std::max(ep::PIECE, least);
    bool streams = g.traffic >= ep::STREAMING;
    for (int k = 0; k < EP_MADE; ++k) streams = streams && at[k] != at[EP_MADE];
    return {g.row->from, g.extent, chunk, ceil_div(g.extent, chunk), {g.step[0], g.step[1], g.step[2]}, streams};
}

}  // namespace

int ep::softmax(const void* packed) {
    const auto& g = plan_of<ep_softmax_plan>(packed);
    ep::count_call();
    Job job;
    job.plan = &g;
    job.passes = &passes_of(g);
    for (int k = 0; k < EP_ROWS; ++k) job.at[k] = place_of(packed, g.place[k], g.offset[k]);
    job.form = form_of(g, job.at);
    job.tiles = g.ndim == 0 ? 1 : ceil_div(g.shape[g.ndim - 1], job.passes->width);
    job.units = 1;
    for (int d = 0; d < g.ndim; ++d) job.units *= d == g.ndim - 1 ? job.tiles : g.shape[d];
    const int64_t worth = ep::parts(COST * g.traffic);
    if (job.units >= worth || job.form.chunks == 1) {
        job.parts = static_cast<int>(std::min(job.units, worth));
        ep::parallel(job.parts, run_units, &job);
        return 0;
    }
    job.parts = static_cast<int>(std::min(job.form.chunks, worth));
    for (int64_t unit = 0; unit < job.units; ++unit) {
        job.width = place(job, unit, job.unit_at);
        ep::parallel(job.parts, measure_chunks, &job);
        job.passes->combine(job.form, job.width, job.measures.bytes);
        ep::parallel(job.parts, finish_chunks, &job);
    }
    return 0;
}

char* ep::kept_terms() {
    return kept<Terms, TERMS>();
}
