// The inner loops: n elements along one dimension. Ops run on contiguous blocks; strides, narrow floats and streaming
// stores are dealt with by staging blocks in and out, so that a value never depends on its layout.
#include <algorithm>

#include "elementwise.h"
#include "runtime/stream.h"

namespace {

#include "types/block.h"

bool is_dense(const ep_storage& storage, int64_t step) {
    return storage.is_direct && step == storage.size;
}

// The operand that stays where it is: one value. A number given at launch is in the compute type already.
const void* single(const ep_geometry& g, const ep_storage& from, char* const* at, int k, Block& block) {
    return g.scalar == k ? at[k] : from.load(at[k], from.size, 1, block.bytes);
}

// The block behind the one of so many bytes: while that one is computed and stored past the caches, the machine does
// not foresee that its input goes on.
void fetch_next(const char* at, int64_t nbytes) {
    for (int64_t line = nbytes, end = 2 * line; line < end; line += ep::LINE) __builtin_prefetch(at + line);
}

// Bytes that are computed at a time where inputs are fetched: as many lines as a core of Intel's waits for at once.
// Lines of two inputs would be twice as many: where stores go past the caches, they come beside these.
constexpr int64_t FETCHED = 1024;

// Elements that are computed at a time: all where no input is fetched.
int64_t at_once(const ep_geometry& g, int64_t n, int64_t size) {
    return g.traffic < ep::FETCHING ? n : std::min(n, FETCHED / size);
}

// The block of n elements that begins at `at`.
const void* loaded(const ep_storage& from, const char* at, int64_t step, int64_t n, void* block, bool is_large) {
    if (is_large && step == from.size) fetch_next(at, n * step);
    return from.load(at, step, n, block);
}

__attribute__((noinline)) void staged_unary(const ep_geometry& g, Target& out, char* const* at, const int64_t* step,
                                            int64_t n) {
    const ep_row& row = *g.row;
    const bool is_large = g.traffic >= ep::FETCHING;
    Block block;
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        const char* const from = at[0] + i * step[0];
        if (row.body == nullptr) {
            out.take(loaded(*row.from, from, step[0], m, out.block(), is_large), m);
            continue;
        }
        const void* x = loaded(*row.from, from, step[0], m, block.bytes, is_large);
        row.body(x, nullptr, out.block(), m, g.attributes, -1);
        out.flush(m);
    }
}

__attribute__((noinline)) void staged_binary(const ep_geometry& g, Target& out, char* const* at, const int64_t* step,
                                             int64_t n, const void* const* singles, int which) {
    const ep_row& row = *g.row;
    const bool is_large = g.traffic >= ep::FETCHING, is_dense = step[0] == row.from->size && step[1] == row.from->size;
    Block blocks[2];
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        const void* in[2];
        const bool is_beside = is_large && out.has_room() && which < 0 && is_dense;
        Later later;
        for (int k = 0; k < 2; ++k) {
            const char* const from = at[k] + i * step[k];
            if (is_beside) later.add(from, m * step[k]);
            in[k] =
                which == k ? singles[k] : loaded(*row.from, from, step[k], m, blocks[k].bytes, is_large && !is_beside);
        }
        row.body(in[0], in[1], out.block(), m, g.attributes, which);
        is_beside ? out.flush(m, later) : out.flush(m);
    }
}

// Dense operands, but a single one.
void dense_binary(const ep_geometry& g, char* const* at, const int64_t* step, int64_t n, const void* const* singles,
                  int which) {
    for (int64_t i = 0, m; i < n; i += m) {
        m = at_once(g, n - i, g.row->from->size);
        const void* in[2];
        for (int k = 0; k < 2; ++k) {
            const char* const from = at[k] + i * step[k];
            if (which != k && g.traffic >= ep::FETCHING) fetch_next(from, m * step[k]);
            in[k] = which == k ? singles[k] : from;
        }
        g.row->body(in[0], in[1], at[2] + i * step[2], m, g.attributes, which);
    }
}

// Operands that lie side by side, but a single one. `inputs` of them come before the output.
void as_stored(const ep_geometry& g, const ep::Stored& stored, char* const* at, int inputs, int64_t n,
               const void* const* singles, int which, bool is_streaming) {
    const int64_t size = stored.words->size;
    Target out(*stored.words, at[inputs], size, is_streaming);
    for (int64_t i = 0, m; i < n; i += m) {
        m = is_streaming ? out.length(n - i) : at_once(g, n - i, size);
        const void* in[2] = {};
        const bool is_large = g.traffic >= ep::FETCHING,
                   is_beside = is_large && out.has_room() && which < 0 && inputs == 2;
        Later later;
        for (int k = 0; k < inputs; ++k) {
            const char* const from = at[k] + i * size;
            if (is_beside) later.add(from, m * size);
            if (is_large && !is_beside && which != k) fetch_next(from, m * size);
            in[k] = which == k ? singles[k] : from;
        }
        stored.body(in[0], in[1], out.block(), m, g.attributes, which);
        is_beside ? out.flush(m, later) : out.flush(m);
    }
}

}  // namespace

void ep::unary(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n) {
    const ep_geometry& g = *geometry;
    const ep_row& row = *g.row;
    const bool is_streaming = streams(g.traffic, g.operands, at, n);
    if (!is_streaming && is_dense(*row.from, step[0]) && is_dense(*row.to, step[1])) {
        for (int64_t i = 0, m; i < n; i += m) {
            m = at_once(g, n - i, step[0]);
            const char* const from = at[0] + i * step[0];
            if (g.traffic >= ep::FETCHING) fetch_next(from, m * step[0]);
            row.body(from, nullptr, at[1] + i * step[1], m, g.attributes, -1);
        }
        return;
    }
    if (row.code != nullptr && step[0] == row.from->size && step[1] == row.to->size)
        return as_stored(g, *static_cast<const Stored*>(row.code), at, 1, n, nullptr, -1, is_streaming);
    Target out(*row.to, at[1], step[1], is_streaming);
    staged_unary(g, out, at, step, n);
}

void ep::binary(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n) {
    const ep_geometry& g = *geometry;
    const ep_row& row = *g.row;
    // A number is in the compute type and cannot be loaded, even where the tensor beside it stays where it is, too.
    const int which = g.scalar >= 0 ? g.scalar : step[0] == 0 ? 0 : step[1] == 0 ? 1 : -1;
    Block block;
    const void* in[2] = {at[0], at[1]};
    if (which >= 0) in[which] = single(g, *row.from, at, which, block);
    const bool is_streaming = streams(g.traffic, g.operands, at, n);
    if (!is_streaming && (which == 0 || is_dense(*row.from, step[0])) && (which == 1 || is_dense(*row.from, step[1])) &&
        is_dense(*row.to, step[2])) {
        dense_binary(g, at, step, n, in, which);
        return;
    }
    const auto is_beside = [&](int k) { return which == k || step[k] == row.from->size; };
    if (row.code != nullptr && is_beside(0) && is_beside(1) && step[2] == row.to->size)
        return as_stored(g, *static_cast<const Stored*>(row.code), at, 2, n, in, which, is_streaming);
    Target out(*row.to, at[2], step[2], is_streaming);
    staged_binary(g, out, at, step, n, in, which);
}
