// The launch of Iota, and its loop over one dimension.
#include "iota.h"
#include "runtime/stream.h"

namespace {

#include "types/block.h"

}  // namespace

int ep::iota(const void* packed) {
    const auto& g = plan_of<ep_geometry>(packed);
    // Kernels only read the numbers; places are counted from their address on.
    char* const numbers = const_cast<char*>(numbers_of(packed, 1));
    Launch launch = {&g, {numbers, numbers, place_of(packed, 0, g.offset[2])}, 0};
    return enter(launch);
}

void ep::iota_loop(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n) {
    const ep_row& row = *geometry->row;
    Target out(*row.to, at[2], step[2], streams(geometry->traffic, geometry->operands, at, n));
    for (int64_t i = 0, m; i < n; i += m) {
        m = out.length(n - i);
        const ep::Places places = {(at[1] - at[0]) + i * step[1], step[1]};
        row.body(at[0], &places, out.block(), m, geometry->attributes, -1);
        out.flush(m);
    }
}
