// The launch of LayerNorm: rows shared among threads, each of which goes through its row alone.
#include "layer_norm.h"

#include <algorithm>

#include "count.h"
#include "pool.h"

struct ep_layer_norm_engine {
    const char* isa;
    const ep::Normalize* normalizes;
    const ep_storage* storages;
};

namespace {

const ep_layer_norm_engine ENGINES[] = {
#if EP_X86
    {"avx512", ep::avx512_normalizes, ep::avx512_storages},
    {"avx2", ep::avx2_normalizes, ep::avx2_storages},
#endif
    {"baseline", ep::baseline_normalizes, ep::baseline_storages},
};

// Three passes over a row cost more than the bytes that are moved.
constexpr int64_t COST = 2;

struct Job {
    const ep_layer_norm& norm;
    char* at[EP_NORM_PLACES];
    int parts;
};

void normalize_part(void* context, int part) {
    const auto& job = *static_cast<const Job*>(context);
    const ep_layer_norm& g = job.norm;
    g.engine->normalizes[g.dtype == EP_float64](g, g.engine->storages[g.dtype], job.at, g.rows * part / job.parts,
                                                g.rows * (part + 1) / job.parts);
}

}  // namespace

extern "C" const ep_layer_norm_engine* ep_layer_norm_engine_of(const char* isa) {
    for (const ep_layer_norm_engine& engine : ENGINES)
        if (std::strcmp(engine.isa, isa) == 0) return &engine;
    return nullptr;
}

extern "C" int ep_normalize(const void* packed) {
    const auto& p = *static_cast<const ep_layer_norm_packed*>(packed);
    ep::count_call();
    Job job = {*p.norm, {}, 1};
    for (int k = 0; k < EP_NORM_PLACES; ++k) job.at[k] = reinterpret_cast<char*>(p.at[k] + p.norm->offset[k]);
    job.parts = static_cast<int>(std::min<int64_t>(p.norm->rows, ep::parts(COST * p.norm->traffic)));
    ep::parallel(job.parts, normalize_part, &job);
    return 0;
}

extern "C" int ep_launch_layer_norm(const ep_layer_norm* norm, intptr_t x, intptr_t scale, intptr_t bias, intptr_t y,
                                    intptr_t mean, intptr_t rstd) {
    const ep_layer_norm_packed packed = {norm, {x, scale, bias, y, mean, rstd}};
    return ep_normalize(&packed);
}
