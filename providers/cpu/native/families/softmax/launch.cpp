// The launch of softmaxes.
#include "runtime/count.h"
#include "runtime/kept.h"
#include "runtime/stream.h"
#include "units.h"

namespace {

struct Terms;

struct Job {
    ep::Units units;
    int parts;
};

void run_units(void* context, int part) {
    const auto& [units, parts] = *static_cast<const Job*>(context);
    int64_t next[EP_ROWS];
    units.next(next);
    const int64_t end = units.count * (part + 1) / parts;
    for (int64_t unit = units.count * part / parts, count; unit < end; unit += count) {
        char* at[EP_ROWS];
        const int64_t width = units.place(unit, at);
        count = units.along(unit, end);
        units.passes->whole(units.form, at, width, count, next);
    }
    if (units.form.streams) ep::stream_done();
}

void finish_chunks(void* context, int part) {
    const auto& shared = *static_cast<const ep::Shared*>(context);
    const ep::Units& units = *shared.units;
    units.passes->finish(units.form, shared.at, shared.width, shared.first(part), shared.first(part + 1),
                         shared.measures.bytes);
    if (units.form.streams) ep::stream_done();
}

}  // namespace

int ep::softmax(const void* packed) {
    const auto& g = plan_of<ep_softmax_plan>(packed);
    ep::count_call();
    Job job = {Units(g, packed), 0};
    Units& units = job.units;
    units.form.streams = g.traffic >= STREAMING;
    for (int k = 0; k < EP_MADE; ++k) units.form.streams = units.form.streams && units.at[k] != units.at[EP_MADE];
    if (units.are_taken_whole()) {
        job.parts = static_cast<int>(std::min(units.count, units.worth));
        ep::parallel(job.parts, run_units, &job);
        return 0;
    }
    Shared shared(units);
    for (int64_t unit = 0; unit < units.count; ++unit) {
        shared.measure(unit);
        ep::parallel(shared.parts, finish_chunks, &shared);
    }
    return 0;
}

char* ep::kept_terms() {
    return kept<Terms, TERMS>();
}
