// Copies whose input and output are contiguous along different dimensions, by blocks.
#include "runtime/count.h"
#include "runtime/pool.h"
#include "runtime/stream.h"
#include "transposer.h"

namespace {

struct Job {
    const ep_transpose_plan* plan;
    const ep::Transposer* transposer;
    const char* x;
    char* out;
    ep::Blocks blocks;
    bool streams;
    int64_t skew;           // rows of x by which the first blocks are shorter, so that the others begin lines of out
    int64_t across, along;  // blocks of a matrix: of the width, of the height
    int64_t part;           // blocks
};

// Blocks in the order of matrices, then of the width; the next along the height goes on in the same rows of out.
ep::Block block_of(const Job& job, int64_t number) {
    const ep_transpose_plan& t = *job.plan;
    const ep::Blocks& blocks = job.blocks;
    const int64_t in_matrix = number % (job.across * job.along);
    const int64_t column = in_matrix / job.along * blocks.width;
    const int64_t begin = in_matrix % job.along * blocks.height - job.skew, end = begin + blocks.height;
    const int64_t row = begin < 0 ? 0 : begin;
    ep::Block block = {job.x, job.out, t.x_step, t.out_step, 0, 0, job.streams, nullptr};
    block.width = t.width - column < blocks.width ? t.width - column : blocks.width;
    block.height = (end < t.height ? end : t.height) - row;
    int64_t rest = number / (job.across * job.along);
    for (int d = t.ndim - 1; d >= 0; --d) {
        const int64_t index = rest % t.extent[d];
        rest /= t.extent[d];
        block.x += index * t.x_stride[d];
        block.out += index * t.out_stride[d];
    }
    block.x += column * job.transposer->size + row * t.x_step;
    block.out += column * t.out_step + row * job.transposer->size;
    return block;
}

bool is_far(const ep_transpose_plan& t) {
    return t.traffic > ep::OWN * ep::threads();
}

void transpose_part(void* context, int i) {
    const Job& job = *static_cast<const Job*>(context);
    const int64_t all = job.plan->matrices * job.across * job.along;
    const int64_t begin = i * job.part, end = begin + job.part < all ? begin + job.part : all;
    const bool is_far = ::is_far(*job.plan);
    const auto block_at = [&](int64_t number) { return number < end ? block_of(job, number) : ep::Block{}; };
    ep::Block block = block_at(begin), next = block_at(begin + 1);
    for (int64_t number = begin; number < end; ++number) {
        const ep::Block later = block_at(number + 2);
        block.later = is_far ? later.x : nullptr;
        job.blocks.move(block);
        block = next;
        next = later;
    }
    if (job.streams) ep::stream_done();
}

// Extents of so many blocks each leave threads enough of them, and few that are not whole.
constexpr int64_t MANY = 8;

bool is_few(int64_t rows) {
    return rows >= ep::FEWEST && rows <= ep::FEW;
}

ep::Blocks blocks_of(const ep_transpose_plan& t, const ep::Transposer& transposer) {
    if (is_few(t.width) && t.x_step == t.width * transposer.size)
        return {t.width, transposer.run, transposer.split[t.width - ep::FEWEST]};
    if (is_few(t.height) && t.out_step == t.height * transposer.size)
        return {transposer.run, t.height, transposer.join[t.height - ep::FEWEST]};
    const ep::Blocks& far = transposer.far;
    return is_far(t) && t.width >= MANY * far.width && t.height >= MANY * far.height ? far : transposer.blocks;
}

// Whether out goes past the caches. Its lines are written a row apart, so that they wait for each other to be read
// sooner than those of a copy do: whole lines of blocks from half of its size on.
bool streams(const ep_transpose_plan& t, const Job& job) {
    const bool is_blocks =
        job.blocks.move == job.transposer->blocks.move || job.blocks.move == job.transposer->far.move;
    if (2 * t.traffic < ep::STREAMING || !is_blocks) return t.traffic >= ep::STREAMING;
    bool is_whole = ep::is_line_aligned(job.out) && t.out_step % ep::LINE == 0;
    for (int d = 0; d < t.ndim; ++d) is_whole = is_whole && t.out_stride[d] % ep::LINE == 0;
    return is_whole || t.traffic >= ep::STREAMING;
}

}  // namespace

int ep::transpose(const void* packed) {
    ep::count_call();
    const auto& t = plan_of<ep_transpose_plan>(packed);
    const auto& transposer = *static_cast<const Transposer*>(t.row->code);
    Job job = {&t, &transposer, nullptr, nullptr, blocks_of(t, transposer), false, 0, 0, 0, 0};
    job.x = place_of(packed, 0, t.x_offset);
    job.out = place_of(packed, 1, t.out_offset);
    job.streams = streams(t, job);
    // Blocks that hold whole columns begin where they must.
    if (job.streams && job.blocks.height >= ep::LINE / transposer.size)
        job.skew = static_cast<int64_t>(reinterpret_cast<uintptr_t>(job.out) % ep::LINE) / transposer.size;
    job.across = (t.width + job.blocks.width - 1) / job.blocks.width;
    job.along = (t.height + job.skew + job.blocks.height - 1) / job.blocks.height;
    const int64_t all = t.matrices * job.across * job.along;
    const int count = ep::parts(t.traffic);
    job.part = (all + count - 1) / count;
    ep::parallel(static_cast<int>((all + job.part - 1) / job.part), transpose_part, &job);
    return 0;
}
