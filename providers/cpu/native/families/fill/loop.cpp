// A number, as elements along one dimension.
#include "fill.h"
#include "runtime/moves.h"
#include "runtime/stream.h"

namespace {

#include "types/block.h"

template <class U>
void repeat(const void* value, void* block, int64_t n) {
    const U once = *static_cast<const U*>(value);
    U* const to = static_cast<U*>(block);
    for (int64_t i = 0; i < n; ++i) to[i] = once;
}

}  // namespace

void ep::fill(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n) {
    const ep_storage& to = *geometry->row->to;
    Target out(to, at[1], step[1], streams(geometry->traffic, geometry->operands, at, n));
    const auto repeated = [&](void* block, int64_t count) {
        with_unsigned(to.staged_size, [&](auto bits) { repeat<decltype(bits)>(at[0], block, count); });
    };
    if (out.is_direct()) return repeated(out.block(), n);
    repeated(out.block(), n < BLOCK ? n : BLOCK);
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        out.flush(m);
    }
}
