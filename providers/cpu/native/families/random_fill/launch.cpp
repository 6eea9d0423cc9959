// The launch of RandomFill: blocks of consecutive elements to wherever they lie, then the state.
#include "random_fill.h"
#include "runtime/count.h"
#include "runtime/pool.h"

namespace {

struct Job {
    const ep_geometry* geometry;
    ep::Draw draw;
    char* out;
    int64_t part;  // elements
};

// A word costs more than a byte of memory does.
constexpr int64_t COST = 4;

int64_t words_each(const ep_geometry& g) {
    return g.row->to->size == 8 ? 2 : 1;
}

// Elements from number `begin` on, to n places that are neighbours in a block or in the output.
void draw(const Job& job, int64_t begin, void* to, int64_t n) {
    ep::Draw words = job.draw;
    words.word += static_cast<uint64_t>(begin * words_each(*job.geometry));
    job.geometry->row->body(&words, nullptr, to, n, nullptr, -1);
}

// A block of elements from number `begin` on, by runs of the last dimension.
void scatter(const Job& job, int64_t begin, const char* block, int64_t n) {
    const ep_geometry& g = *job.geometry;
    const ep_storage& to = *g.row->to;
    const int last = g.ndim - 1;
    for (int64_t run; n > 0; n -= run, begin += run, block += run * to.staged_size) {
        char* at = job.out;
        int64_t rest = begin;
        for (int d = last; d >= 0; --d) {
            at += rest % g.shape[d] * g.stride[0][d];
            rest /= g.shape[d];
        }
        const int64_t left = g.shape[last] - begin % g.shape[last];
        run = left < n ? left : n;
        to.store(block, at, g.stride[0][last], run, false);
    }
}

// Elements [begin, end) in row-major order.
void fill_range(const Job& job, int64_t begin, int64_t end) {
    const ep_geometry& g = *job.geometry;
    const ep_storage& to = *g.row->to;
    if (to.is_direct && g.ndim == 1 && g.stride[0][0] == to.size)
        return draw(job, begin, job.out + begin * to.size, end - begin);
    alignas(ep::LINE) char block[ep::BLOCK * sizeof(double)];
    for (int64_t n; begin < end; begin += n) {
        n = end - begin < ep::BLOCK ? end - begin : ep::BLOCK;
        draw(job, begin, block, n);
        scatter(job, begin, block, n);
    }
}

void fill_part(void* context, int i) {
    const auto& job = *static_cast<const Job*>(context);
    const int64_t begin = i * job.part, size = job.geometry->size;
    fill_range(job, begin, size - begin < job.part ? size : begin + job.part);
}

}  // namespace

int ep::random_fill(const void* packed) {
    const auto& p = *static_cast<const ep_packed*>(packed);
    const auto& g = plan_of<ep_geometry>(packed);
    ep::count_call();
    auto* const state = reinterpret_cast<uint64_t*>(p.at[0]);
    Job job = {&g, {state[0], state[1], 0, 0}, place_of(packed, 1, g.offset[0]), g.size};
    const char* const numbers = numbers_of(packed, 2);
    std::memcpy(&job.draw.low, numbers, sizeof job.draw.low);
    std::memcpy(&job.draw.bound, numbers + EP_NUMBER, sizeof job.draw.bound);
    const int count = ep::parts(COST * g.traffic);
    if (count <= 1) {
        fill_range(job, 0, g.size);
    } else {
        // Whole blocks of words and whole lines of every dtype.
        job.part = ((g.size + count - 1) / count + 255) / 256 * 256;
        ep::parallel(static_cast<int>((g.size + job.part - 1) / job.part), fill_part, &job);
    }
    state[1] += static_cast<uint64_t>(g.size * words_each(g));
    return 0;
}
