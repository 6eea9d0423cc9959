// The launch of Scan: rows, or tiles of neighbouring ones, shared among threads.
#include <algorithm>

#include "runtime/count.h"
#include "runtime/pool.h"
#include "scan.h"

namespace {

// A row is a chain: it costs more than the bytes that are moved.
constexpr int64_t COST = 4;

struct Job {
    const ep_scan_plan& plan;
    char* at[EP_SCAN_PLACES];
    int64_t width, tiles, all;
    int parts;
};

void scan_part(void* context, int part) {
    const auto& job = *static_cast<const Job*>(context);
    const ep_scan_plan& g = job.plan;
    const auto& scanner = *static_cast<const ep::Scanner*>(g.row->code);
    const int last = g.ndim - 1;
    const int64_t end = job.all * (part + 1) / job.parts;
    for (int64_t tile = job.all * part / job.parts, tiles; tile < end; tile += tiles) {
        char* at[EP_SCAN_PLACES];
        const int64_t first = tile % job.tiles;
        tiles = g.how == EP_SCAN_ALONG ? 1 : std::min({ep::SCAN_TILES, job.tiles - first, end - tile});
        int64_t rest = tile / job.tiles;
        for (int k = 0; k < EP_SCAN_PLACES; ++k) at[k] = job.at[k] + first * job.width * g.stride[k][last];
        for (int d = last - 1; d >= 0; rest /= g.shape[d], --d)
            for (int k = 0; k < EP_SCAN_PLACES; ++k) at[k] += rest % g.shape[d] * g.stride[k][d];
        const int64_t rows = std::min(tiles * job.width, g.shape[last] - first * job.width);
        if (g.how == EP_SCAN_ACROSS)
            scanner.across(g, at, rows);
        else if (g.how == EP_SCAN_SHORT)
            scanner.rows(g, at, rows);
        else
            scanner.along(g, at);
    }
}

}  // namespace

int ep::scan(const void* packed) {
    const auto& g = plan_of<ep_scan_plan>(packed);
    ep::count_call();
    const int last = g.ndim - 1;
    Job job = {g, {}, g.how == EP_SCAN_ALONG ? 1 : SCAN_WIDTH, 0, 0, 1};
    for (int k = 0; k < EP_SCAN_PLACES; ++k) job.at[k] = place_of(packed, k, g.offset[k]);
    job.tiles = (g.shape[last] + job.width - 1) / job.width;
    job.all = job.tiles;
    for (int d = 0; d < last; ++d) job.all *= g.shape[d];
    job.parts = static_cast<int>(std::min<int64_t>(job.all, ep::parts(COST * g.traffic)));
    ep::parallel(job.parts, scan_part, &job);
    return 0;
}
