// The launch of norms: rows shared among threads, each of which goes through its row alone.
#include <algorithm>

#include "norm.h"
#include "runtime/count.h"
#include "runtime/pool.h"
#include "runtime/stream.h"

namespace {

struct Job {
    const ep_norm_plan& plan;
    const ep::Normalizer& normalizer;
    char* at[EP_NORM_PLACES];
    int parts;
    bool streams;
};

void normalize_part(void* context, int part) {
    const auto& job = *static_cast<const Job*>(context);
    const int64_t rows = job.plan.rows;
    job.normalizer.run(job.plan, job.at, rows * part / job.parts, rows * (part + 1) / job.parts, job.streams);
    if (job.streams) ep::stream_done();
}

}  // namespace

int ep::norm(const void* packed) {
    const auto& g = plan_of<ep_norm_plan>(packed);
    ep::count_call();
    Job job = {g, *static_cast<const Normalizer*>(g.row->code), {}, 1, false};
    for (int k = 0; k < EP_NORM_PLACES; ++k)
        job.at[k] = g.place[k] < 0 ? nullptr : place_of(packed, g.place[k], g.offset[k]);
    job.streams = g.traffic >= STREAMING && g.terms >= BLOCK / 2 && job.at[EP_NORM_X] != job.at[EP_NORM_Y];
    job.parts = static_cast<int>(std::min<int64_t>(g.rows, ep::parts(job.normalizer.cost * g.traffic)));
    ep::parallel(job.parts, normalize_part, &job);
    return 0;
}
