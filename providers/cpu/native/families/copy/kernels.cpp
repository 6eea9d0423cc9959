// The rows of Copy, and its short rows. Compiled once per instruction set.
#include "copy.h"
#include "isa/isa.h"
#include "runtime/moves.h"

namespace {

// Bytes of a row from which on lines are worth a store past the caches.
constexpr int64_t WORTH = 2 * ep::LINE;

constexpr int64_t CHUNK = EP_WIDTH < 32 ? EP_WIDTH : 32;
typedef char Chunk __attribute__((vector_size(CHUNK), aligned(1), may_alias));

EP_INLINE void copy_chunk(char* to, const char* from) {
    *reinterpret_cast<Chunk*>(to) = *reinterpret_cast<const Chunk*>(from);
}

// The last chunk may overlap the one before.
EP_INLINE void copy_row(char* to, const char* from, int64_t nbytes) {
    if (nbytes < CHUNK) return ep::copy_bytes(to, from, nbytes);
#pragma GCC unroll 4
    for (int64_t i = 0; i + CHUNK < nbytes; i += CHUNK) copy_chunk(to + i, from + i);
    copy_chunk(to + nbytes - CHUNK, from + nbytes - CHUNK);
}

void copy_rows(const ep_geometry& g, char* const* at, const int64_t* outer, int64_t rows) {
    const int64_t nbytes = g.shape[g.ndim - 1] * g.row->to->size;
    const char* x = at[0];
    char* out = at[1];
    const bool is_far = g.traffic >= ep::STREAMING && nbytes >= WORTH && nbytes % ep::LINE == 0 &&
                        outer[1] % ep::LINE == 0 && ep::is_line_aligned(out);
    for (; rows > 0; --rows, x += outer[0], out += outer[1]) {
        if (is_far)
            ep::stream_far(out, x, nbytes);
        else
            copy_row(out, x, nbytes);
    }
}

constexpr ep::RowCopier COPIER = {copy_rows};

#define EP_COPY_ROW(T, ...) EP_ROW("copy", "-", T, T, ep_elementwise, ep::copy, nullptr, &COPIER)

// clang-format off
const ep_row ROWS[] = {EP_STORED(EP_COPY_ROW, )};
// clang-format on

}  // namespace

EP_PART
