// A launch of Reduce, and how it cuts its rows. Included once, by launch.cpp, in an anonymous namespace.
#pragma once

using ep::ceil_div;
using ep::LANES;

constexpr int64_t DEPTH = 16, GROUP = 4;
// Runs that are shorter are not worth the lanes.
constexpr int64_t LEAST_RUN = 64;
// The most elements of a row, such as a window, that are taken place by place.
constexpr int64_t MOST_PLACES = 64;
// Staged rows that go through the tree together, and bytes of a state and an element of them.
constexpr int64_t ABREAST = 1024, WIDEST = 16;
constexpr int64_t ROOM = int64_t{64} << 10;

int bit_length(int64_t n) {
    return n == 0 ? 0 : 64 - __builtin_clzll(static_cast<unsigned long long>(n));
}

// One launch, and how its rows are cut: each run into `pieces`, or `runs` to a chunk.
struct Job {
    const ep_reduce_plan& g;
    const ep::Reducer& r;
    const ep_storage &from, &to;
    const char* x;
    char* out;
    int64_t run, step, runs, pieces, chunks;
    int64_t size;  // of a row's states
    bool is_short, is_along, slides, is_window, is_far;

    explicit Job(const void* packed)
        : g(ep::plan_of<ep_reduce_plan>(packed)),
          r(*static_cast<const ep::Reducer*>(g.row->code)),
          from(*g.row->from),
          to(*g.row->to),
          x(ep::place_of(packed, EP_X, g.offset[EP_X])),
          out(ep::place_of(packed, EP_REDUCED, g.offset[EP_REDUCED])),
          run(g.extent[g.ndim - 1]),
          step(g.stride[g.ndim - 1]),
          runs(1),
          pieces(1),
          chunks(0),
          size(r.joint->size * r.parts),
          is_short(g.ndim == 1 && step == from.size && run >= ep::LEAST_SHORT && r.joint->rows != nullptr &&
                   run < (r.is_order_free && r.folds != nullptr ? LEAST_RUN : ep::MOST_SHORT + 1)),
          is_along(!is_short && run >= LEAST_RUN && step == from.size),
          slides(!is_short && !is_along && g.terms <= MOST_PLACES && r.joint->slide != nullptr && overlaps()),
          is_window(!is_short && !is_along && g.terms <= MOST_PLACES && from.is_direct && r.joint->windows != nullptr &&
                    (g.ndim > 1 || across() != from.size)),
          is_far(g.traffic >= ep::FETCHING) {
        if (g.terms == 0) return;
        const int64_t group = GROUP * unit(), outer = g.terms / run;
        if (is_short) {
            chunks = 1;
        } else if (run > DEPTH * group) {
            pieces = ceil_div(run, DEPTH * group);
            chunks = outer * pieces;
        } else {
            runs = std::max<int64_t>(1, DEPTH / (run / group + ceil_div(run % group, unit())));
            runs = std::min(runs, outer);
            chunks = ceil_div(outer, runs);
        }
    }

    // Bytes from one row to the next.
    int64_t across() const { return g.kept_stride[EP_X][g.kept - 1]; }

    // Whether runs of neighbours overlap those of the next row, or touch them; pairs as they are stored go place by
    // place.
    bool overlaps() const {
        return step == from.size && across() > 0 && across() <= run * step && across() % step == 0 &&
               (g.ndim > 1 || across() != step) && (run > 2 || !from.is_direct);
    }

    // Elements of a run that go into as many states at once.
    int64_t unit() const { return is_along ? LANES : 1; }
};
