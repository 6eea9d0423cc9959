// Copies whose input is contiguous along another dimension than their output, by blocks.
#include "count.h"
#include "pool.h"
#include "stream.h"
#include "transposer.h"

namespace {

struct Job {
    const ep_transposition* transposition;
    const char* x;
    char* out;
    ep::Blocks blocks;
    bool streams;
    int64_t skew;           // rows of x by which the first blocks are shorter, so that the others begin lines of out
    int64_t across, along;  // blocks of a matrix: of the width, of the height
    int64_t part;           // blocks
};

struct Engine {
    const char* isa;
    const ep_transposer* transposers;
};

const Engine ENGINES[] = {
#if EP_X86
    {"avx512", ep::avx512_transposers},
    {"avx2", ep::avx2_transposers},
#endif
    {"baseline", ep::baseline_transposers},
};

// Blocks in the order of matrices, then of the width; the next along the height goes on in the same rows of out.
ep_block block_of(const Job& job, int64_t number) {
    const ep_transposition& t = *job.transposition;
    const ep::Blocks& blocks = job.blocks;
    const int64_t in_matrix = number % (job.across * job.along);
    const int64_t column = in_matrix / job.along * blocks.width;
    const int64_t begin = in_matrix % job.along * blocks.height - job.skew, end = begin + blocks.height;
    const int64_t row = begin < 0 ? 0 : begin;
    ep_block block = {job.x, job.out, t.x_step, t.out_step, 0, 0, job.streams, nullptr};
    block.width = t.width - column < blocks.width ? t.width - column : blocks.width;
    block.height = (end < t.height ? end : t.height) - row;
    int64_t rest = number / (job.across * job.along);
    for (int d = t.ndim - 1; d >= 0; --d) {
        const int64_t index = rest % t.extent[d];
        rest /= t.extent[d];
        block.x += index * t.x_stride[d];
        block.out += index * t.out_stride[d];
    }
    block.x += column * t.transposer->size + row * t.x_step;
    block.out += column * t.out_step + row * t.transposer->size;
    return block;
}

void transpose_part(void* context, int i) {
    const Job& job = *static_cast<const Job*>(context);
    const int64_t all = job.transposition->matrices * job.across * job.along;
    const int64_t begin = i * job.part, end = begin + job.part < all ? begin + job.part : all;
    ep_block block = block_of(job, begin);
    for (int64_t number = begin; number < end; ++number) {
        ep_block next = {};
        if (number + 1 < end) {
            next = block_of(job, number + 1);
            block.next = next.x;
        }
        job.blocks.move(block);
        block = next;
    }
    if (job.streams) ep::stream_done();
}

bool is_few(int64_t rows) {
    return rows >= ep::FEWEST && rows <= ep::FEW;
}

ep::Blocks blocks_of(const ep_transposition& t) {
    const ep_transposer& transposer = *t.transposer;
    if (is_few(t.width) && t.x_step == t.width * transposer.size)
        return {t.width, transposer.run, transposer.split[t.width - ep::FEWEST]};
    if (is_few(t.height) && t.out_step == t.height * transposer.size)
        return {transposer.run, t.height, transposer.join[t.height - ep::FEWEST]};
    return transposer.blocks;
}

int enter(const ep_transposition& t, intptr_t x, intptr_t out) {
    ep::count_call();
    const ep_transposer& transposer = *t.transposer;
    Job job = {&t, nullptr, nullptr, blocks_of(t), t.traffic >= ep::STREAMING, 0, 0, 0, 0};
    job.x = reinterpret_cast<const char*>(x + t.x_offset);
    job.out = reinterpret_cast<char*>(out + t.out_offset);
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

}  // namespace

extern "C" const ep_transposer* ep_transposer_of(const char* isa, int64_t itemsize) {
    for (const Engine& engine : ENGINES)
        if (std::strcmp(engine.isa, isa) == 0)
            for (int i = 0; i < ep::ELEMENT_SIZES; ++i)
                if (engine.transposers[i].size == itemsize) return &engine.transposers[i];
    return nullptr;
}

extern "C" int ep_transpose(const void* packed) {
    const auto& p = *static_cast<const ep_transpose_packed*>(packed);
    return enter(*p.transposition, p.x, p.out);
}

extern "C" int ep_launch_transpose(const ep_transposition* transposition, intptr_t x, intptr_t out) {
    return enter(*transposition, x, out);
}
