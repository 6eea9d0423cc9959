// The launch of LayerNorm: rows shared among threads, each of which goes through its row alone.
#include <algorithm>

#include "layer_norm.h"
#include "runtime/count.h"
#include "runtime/pool.h"

namespace {

// Three passes over a row cost more than the bytes that are moved.
constexpr int64_t COST = 2;

struct Job {
    const ep_layer_norm_plan& plan;
    char* at[EP_NORM_PLACES];
    int parts;
};

void normalize_part(void* context, int part) {
    const auto& job = *static_cast<const Job*>(context);
    const ep_layer_norm_plan& g = job.plan;
    static_cast<const ep::Normalizer*>(g.row->code)
        ->run(g, job.at, g.rows * part / job.parts, g.rows * (part + 1) / job.parts);
}

}  // namespace

int ep::layer_norm(const void* packed) {
    const auto& g = plan_of<ep_layer_norm_plan>(packed);
    ep::count_call();
    Job job = {g, {}, 1};
    for (int k = 0; k < EP_NORM_PLACES; ++k) job.at[k] = place_of(packed, k, g.offset[k]);
    job.parts = static_cast<int>(std::min<int64_t>(g.rows, ep::parts(COST * g.traffic)));
    ep::parallel(job.parts, normalize_part, &job);
    return 0;
}
