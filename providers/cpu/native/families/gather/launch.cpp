// The launch of Gather: runs of bytes from where an index says to where they lie in the output.
#include "runtime/count.h"
#include "runtime/index.h"
#include "runtime/native.h"
#include "runtime/part.h"
#include "runtime/pool.h"
#include "runtime/stream.h"
#include "types/dtypes.def"

extern "C" {
#include "interface.h"
}

namespace {

struct Job {
    const ep_gather_plan* plan;
    const char* x;
    const char* indices;
    char* out;
    int64_t part;  // runs, or pieces of them
    bool is_far, streams;
};

// Places of one run, before the index counts.
struct Place {
    const char* x;
    const char* index;
    char* out;
};

// Runs longer than this are cut, so that threads can share one.
constexpr int64_t PIECE = int64_t{64} << 10;
// Runs as long as this are memcpy's, which knows how to write whole lines without reading them.
constexpr int64_t LONG = 256;
// An x with more bytes than this is not in the second cache: then the run AHEAD runs later is prefetched, at most its
// first MOST_AHEAD bytes.
constexpr int64_t FAR = int64_t{1} << 20, AHEAD = 8, MOST_AHEAD = 16 * ep::LINE;

// Two moves that may overlap, of sizes that the compiler knows.
template <int64_t SIZE>
EP_INLINE void both_ends(char* to, const char* from, int64_t n) {
    char head[SIZE], tail[SIZE];
    std::memcpy(head, from, SIZE);
    std::memcpy(tail, from + n - SIZE, SIZE);
    std::memcpy(to, head, SIZE);
    std::memcpy(to + n - SIZE, tail, SIZE);
}

EP_INLINE void copy_run(char* to, const char* from, int64_t n) {
    if (n >= LONG) {
        std::memcpy(to, from, static_cast<size_t>(n));
    } else if (n >= 16) {
        for (int64_t i = 0; i + 16 < n; i += 16) std::memcpy(to + i, from + i, 16);
        std::memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        both_ends<8>(to, from, n);
    } else if (n >= 4) {
        both_ends<4>(to, from, n);
    } else {
        for (int64_t i = 0; i < n; ++i) to[i] = from[i];
    }
}

// Prefetch the run at `index`. An invalid address does no harm, so the index is not checked.
template <class Index>
EP_INLINE void announce(const ep_gather_plan& g, const char* x, const char* index) {
    const auto skipped =
        static_cast<uintptr_t>(*reinterpret_cast<const Index*>(index)) * static_cast<uintptr_t>(g.step);
    const uintptr_t from = reinterpret_cast<uintptr_t>(x) + skipped;
    for (int64_t k = 0; k < g.run && k < MOST_AHEAD; k += ep::LINE)
        __builtin_prefetch(reinterpret_cast<const char*>(from + static_cast<uintptr_t>(k)));
}

// The strides of one dimension, and the stride of x along the axis.
struct Steps {
    int64_t x, index, out, axis;
};

// A run of SIZE bytes at a place that the range may not hold.
template <int64_t SIZE, class Index>
EP_INLINE void take_one(char* out, const char* x, int64_t step, int64_t place, ep::Range<Index> range) {
    char element[SIZE] = {};
    if (range.holds(place)) std::memcpy(element, x + place * step, SIZE);
    std::memcpy(out, element, SIZE);
}

// n runs of SIZE bytes, some at a time: that all of these are in range is foreseen, and then the processor reads ahead
// of itself farther than it could be told to.
template <class Index, int64_t SIZE>
EP_INLINE void take_some(Place at, int64_t n, ep::Range<Index> range, Steps step) {
    constexpr int SOME = 4;
    int64_t left = n;
    for (; left >= SOME; left -= SOME) {
        int64_t place[SOME];
        bool holds_all = true;
        for (int k = 0; k < SOME; ++k) {
            place[k] = range.place(at.index + k * step.index);
            holds_all &= range.holds(place[k]);
        }
        for (int k = 0; k < SOME; ++k)
            if (holds_all)
                std::memcpy(at.out + k * step.out, at.x + k * step.x + place[k] * step.axis, SIZE);
            else
                take_one<SIZE>(at.out + k * step.out, at.x + k * step.x, step.axis, place[k], range);
        at = {at.x + SOME * step.x, at.index + SOME * step.index, at.out + SOME * step.out};
    }
    for (; left > 0; --left) {
        take_one<SIZE>(at.out, at.x, step.axis, range.place(at.index), range);
        at = {at.x + step.x, at.index + step.index, at.out + step.out};
    }
}

// n runs of SIZE bytes along the innermost dimension.
template <class Index, int64_t SIZE>
void take_short(const Job& job, Place at, int64_t n) {
    const ep_gather_plan& g = *job.plan;
    const int last = g.ndim - 1;
    const ep::Range<Index> range = {0, g.extent};
    const Steps step = {g.stride[0][last], g.stride[1][last], g.stride[2][last], g.step};
    constexpr Steps DENSE = {0, sizeof(Index), SIZE, SIZE};
    if (step.x == DENSE.x && step.index == DENSE.index && step.out == DENSE.out && step.axis == DENSE.axis)
        take_some<Index, SIZE>(at, n, range, DENSE);
    else
        take_some<Index, SIZE>(at, n, range, step);
}

// n runs along the innermost dimension.
template <class Index>
void take_long(const Job& job, Place at, int64_t n) {
    const ep_gather_plan& g = *job.plan;
    const int last = g.ndim - 1;
    const int64_t x_step = g.stride[0][last], index_step = g.stride[1][last], out_step = g.stride[2][last];
    const ep::Range<Index> range = {0, g.extent};
    for (int64_t i = 0; i < n; ++i, at.x += x_step, at.index += index_step, at.out += out_step) {
        if (job.is_far && i + AHEAD < n) announce<Index>(g, at.x + AHEAD * x_step, at.index + AHEAD * index_step);
        const int64_t place = range.place(at.index);
        if (!range.holds(place))
            std::memset(at.out, 0, static_cast<size_t>(g.run));
        else if (job.streams)
            ep::stream_copy(at.out, at.x + place * g.step, g.run);
        else
            copy_run(at.out, at.x + place * g.step, g.run);
    }
}

using Take = void (*)(const Job&, Place, int64_t);

template <class Index>
Take take_of(int64_t run) {
    switch (run) {
        case 1:
            return take_short<Index, 1>;
        case 2:
            return take_short<Index, 2>;
        case 4:
            return take_short<Index, 4>;
        case 8:
            return take_short<Index, 8>;
        case 16:
            return take_short<Index, 16>;
        default:
            return take_long<Index>;
    }
}

// Move to run number `number`; leaves its index in each dimension.
Place locate(const Job& job, int64_t number, int64_t* index) {
    const ep_gather_plan& g = *job.plan;
    Place at = {job.x, job.indices, job.out};
    for (int d = g.ndim - 1; d >= 0; --d) {
        index[d] = number % g.shape[d];
        number /= g.shape[d];
        at.x += index[d] * g.stride[0][d];
        at.index += index[d] * g.stride[1][d];
        at.out += index[d] * g.stride[2][d];
    }
    return at;
}

// Runs [begin, end) in row-major order.
void take_runs(const Job& job, int64_t begin, int64_t end) {
    const ep_gather_plan& g = *job.plan;
    const Take take = g.index_size == 4 ? take_of<int32_t>(g.run) : take_of<int64_t>(g.run);
    const int last = g.ndim - 1;
    int64_t index[EP_RANK];
    Place at = locate(job, begin, index);
    while (begin < end) {
        const int64_t left = g.shape[last] - index[last], n = end - begin < left ? end - begin : left;
        take(job, at, n);
        begin += n;
        index[last] += n;
        at = {at.x + n * g.stride[0][last], at.index + n * g.stride[1][last], at.out + n * g.stride[2][last]};
        for (int d = last; d > 0 && index[d] == g.shape[d]; --d) {
            at.x += g.stride[0][d - 1] - g.shape[d] * g.stride[0][d];
            at.index += g.stride[1][d - 1] - g.shape[d] * g.stride[1][d];
            at.out += g.stride[2][d - 1] - g.shape[d] * g.stride[2][d];
            index[d] = 0;
            ++index[d - 1];
        }
    }
}

int64_t pieces(const ep_gather_plan& g) {
    return (g.run + PIECE - 1) / PIECE;
}

// Pieces [begin, end) of long runs.
void take_pieces(const Job& job, int64_t begin, int64_t end) {
    const ep_gather_plan& g = *job.plan;
    int64_t index[EP_RANK];
    for (; begin < end; ++begin) {
        const Place at = locate(job, begin / pieces(g), index);
        const int64_t skipped = begin % pieces(g) * PIECE, n = g.run - skipped < PIECE ? g.run - skipped : PIECE;
        const int64_t place = ep::index_at(at.index, g.index_size);
        if (static_cast<uint64_t>(place) >= static_cast<uint64_t>(g.extent))
            std::memset(at.out + skipped, 0, static_cast<size_t>(n));
        else if (job.streams)
            ep::stream_copy(at.out + skipped, at.x + place * g.step + skipped, n);
        else
            std::memcpy(at.out + skipped, at.x + place * g.step + skipped, static_cast<size_t>(n));
    }
}

void take_part(void* context, int i) {
    const auto& job = *static_cast<const Job*>(context);
    const ep_gather_plan& g = *job.plan;
    const int64_t count = pieces(g), size = g.size * count, begin = i * job.part;
    const int64_t end = size - begin < job.part ? size : begin + job.part;
    if (count > 1)
        take_pieces(job, begin, end);
    else
        take_runs(job, begin, end);
    if (job.streams) ep::stream_done();
}

// Whether long runs are whole lines of the output: others would be read to be written.
bool has_whole_lines(const ep_gather_plan& g, const char* out) {
    bool is_whole = ep::is_line_aligned(out) && g.run % ep::LINE == 0;
    for (int d = 0; d < g.ndim; ++d) is_whole = is_whole && (g.shape[d] == 1 || g.stride[2][d] % ep::LINE == 0);
    return is_whole;
}

int gather(const void* packed) {
    const auto& g = ep::plan_of<ep_gather_plan>(packed);
    ep::count_call();
    Job job = {&g,
               ep::place_of(packed, 0, g.offset[0]),
               ep::place_of(packed, 1, g.offset[1]),
               ep::place_of(packed, 2, g.offset[2]),
               0,
               g.reach > FAR,
               false};
    job.streams = g.traffic >= ep::STREAMING && has_whole_lines(g, job.out);
    const int64_t size = g.size * pieces(g);
    const int count = ep::parts(g.traffic);
    // Whole lines of single elements, so that two threads do not write one line of a dense output.
    const int64_t whole = g.run < ep::LINE ? ep::LINE : 1;
    job.part = ((size + count - 1) / count + whole - 1) / whole * whole;
    ep::parallel(static_cast<int>((size + job.part - 1) / job.part), take_part, &job);
    return 0;
}

// Bytes are moved, so that all element types and instruction sets share a kernel.
#define EP_GATHER_ROW(T, ...) {"gather", "-", #T, #T, gather, nullptr, nullptr, nullptr, nullptr, nullptr},

// clang-format off
const ep_row ROWS[] = {EP_STORED(EP_GATHER_ROW, )};
// clang-format on

}  // namespace

EP_SHARED_PART(gather)
