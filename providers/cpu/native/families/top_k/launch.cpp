// TopK: the best elements of each row by their order and, where that is equal, by their place; so the choice is one
// alone, however it is found.
#include <algorithm>

#include "runtime/count.h"
#include "runtime/pool.h"
#include "top_k.h"

namespace {

struct StandsBefore {
    bool operator()(const ep::Candidate& a, const ep::Candidate& b) const { return a.place < b.place; }
};

// From this share of a row on, all of it is put in order as far as needed; of less the best so far are kept.
constexpr int64_t SHARE = 8;
// A comparison costs more than a byte of memory does.
constexpr int64_t COST = 4;

struct Job {
    const ep_top_k_plan& plan;
    const ep::Chooser& chooser;
    char* at[EP_TOP_PLACES];
    ep::Candidate* scratch;
};

void deliver(const ep_top_k_plan& g, const ep::Candidate* found, char* const* at) {
    for (int64_t i = 0; i < g.k; ++i) {
        const int64_t place = found[i].place;
        std::memcpy(at[EP_TOP_VALUES] + i * g.step[EP_TOP_VALUES], at[EP_TOP_X] + place * g.step[EP_TOP_X],
                    static_cast<size_t>(g.itemsize));
        std::memcpy(at[EP_TOP_INDICES] + i * g.step[EP_TOP_INDICES], &place, sizeof place);
    }
}

void select_part(void* context, int part) {
    const auto& job = *static_cast<const Job*>(context);
    const ep_top_k_plan& g = job.plan;
    ep::Candidate* const found = job.scratch + part * g.room;
    const int64_t end = g.rows * (part + 1) / g.parts;
    for (int64_t row = g.rows * part / g.parts; row < end; ++row) {
        char* at[EP_TOP_PLACES];
        std::copy_n(job.at, int{EP_TOP_PLACES}, at);
        for (int64_t d = g.ndim - 1, rest = row; d >= 0; rest /= g.shape[d], --d)
            for (int k = 0; k < EP_TOP_PLACES; ++k) at[k] += rest % g.shape[d] * g.stride[k][d];
        job.chooser.choose(g, at[EP_TOP_X], found);
        if (g.is_sorted != 0)
            std::sort(found, found + g.k, ep::ComesBefore{});
        else
            std::sort(found, found + g.k, StandsBefore{});
        deliver(g, found, at);
    }
}

}  // namespace

int ep::top_k(const void* packed) {
    const auto& p = *static_cast<const ep_packed*>(packed);
    const auto& g = ep::plan_of<ep_top_k_plan>(packed);
    ep::count_call();
    Job job = {
        g, *static_cast<const ep::Chooser*>(g.row->code), {}, reinterpret_cast<ep::Candidate*>(p.at[EP_TOP_PLACES])};
    for (int k = 0; k < EP_TOP_PLACES; ++k) job.at[k] = ep::place_of(packed, k, g.offset[k]);
    ep::parallel(g.parts, select_part, &job);
    return 0;
}

extern "C" int64_t ep_top_k_scratch(ep_top_k_plan* plan, int64_t traffic) {
    plan->parts = static_cast<int32_t>(std::min<int64_t>(plan->rows, ep::parts(COST * traffic)));
    plan->room = ep::is_sieved(*plan)             ? 2 * ep::lanes_of(plan->k)
                 : plan->extent / SHARE < plan->k ? plan->extent
                                                  : plan->k;
    return plan->parts * plan->room * int64_t{sizeof(ep::Candidate)};
}
