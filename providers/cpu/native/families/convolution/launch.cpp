// The launch of Convolution: pieces of y shared among threads, each with scratch of its own.
#include <algorithm>
#include <atomic>

#include "convolution.h"
#include "runtime/count.h"
#include "runtime/pool.h"

namespace {

// Each thread claims so many shares, so that one that is held up delays less.
constexpr int64_t SHARES = 4;

struct Job {
    const ep_convolution_plan& plan;
    char* at[EP_CONVOLUTION_PLACES];
    char* scratch;
    int64_t pieces;
    int parts;
    std::atomic<int64_t> share{0};
};

void convolve_part(void* context, int part) {
    auto& job = *static_cast<Job*>(context);
    const ep_convolution_plan& g = job.plan;
    const int64_t shares = std::min(job.pieces, SHARES * job.parts);
    for (int64_t share; (share = job.share++) < shares;) {
        const int64_t begin = job.pieces * share / shares, end = job.pieces * (share + 1) / shares;
        static_cast<const ep::Convolver*>(g.row->code)->run(g, job.at, begin, end, job.scratch + part * g.room);
    }
}

}  // namespace

int ep::convolution(const void* packed) {
    const auto& g = plan_of<ep_convolution_plan>(packed);
    ep::count_call();
    Job job = {g, {}, place_of(packed, g.place[EP_CONVOLUTION_SCRATCH], 0), 0, 1};
    for (int k = 0; k < EP_CONVOLUTION_PLACES; ++k)
        job.at[k] = g.place[k] < 0 ? nullptr : place_of(packed, g.place[k], g.offset[k]);
    job.pieces = g.images * g.groups * ((g.windows.count[0] + g.lines - 1) / g.lines);
    job.parts = static_cast<int>(std::min<int64_t>({g.parts, job.pieces, ep::parts(g.work)}));
    ep::parallel(job.parts, convolve_part, &job);
    return 0;
}
