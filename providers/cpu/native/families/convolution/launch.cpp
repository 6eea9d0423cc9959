// The launch of Convolution: pieces of y shared among threads, each with scratch of its own.
#include <algorithm>

#include "convolution.h"
#include "runtime/count.h"
#include "runtime/pool.h"

namespace {

struct Job {
    const ep_convolution_plan& plan;
    char* at[EP_CONVOLUTION_PLACES];
    char* scratch;
    int64_t pieces;
    int parts;
};

void convolve_part(void* context, int part) {
    const auto& job = *static_cast<const Job*>(context);
    const ep_convolution_plan& g = job.plan;
    const int64_t begin = job.pieces * part / job.parts, end = job.pieces * (part + 1) / job.parts;
    static_cast<const ep::Convolver*>(g.row->code)->run(g, job.at, begin, end, job.scratch + part * g.room);
}

}  // namespace

int ep::convolution(const void* packed) {
    const auto& g = plan_of<ep_convolution_plan>(packed);
    ep::count_call();
    Job job = {g, {}, place_of(packed, g.place[EP_CONVOLUTION_SCRATCH], 0), 0, 1};
    for (int k = 0; k < EP_CONVOLUTION_PLACES; ++k)
        job.at[k] = g.place[k] < 0 ? nullptr : place_of(packed, g.place[k], g.offset[k]);
    job.pieces = g.images * g.groups * ((g.count[0] + g.windows - 1) / g.windows);
    job.parts = static_cast<int>(std::min<int64_t>({g.parts, job.pieces, ep::parts(g.work)}));
    ep::parallel(job.parts, convolve_part, &job);
    return 0;
}
