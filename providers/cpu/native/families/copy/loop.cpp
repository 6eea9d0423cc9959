// Elements of any type as they are, along one dimension.
#include "copy.h"
#include "families/fill/fill.h"
#include "runtime/moves.h"
#include "runtime/stream.h"

namespace {

#include "types/block.h"

}  // namespace

void ep::copy(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n) {
    const int64_t size = geometry->row->to->size, nbytes = n * size;
    const char* const x = at[0];
    char* const out = at[1];
    if (step[0] == 0) {
        fill_run(x, size, out, step[1], n);
    } else if (step[0] != size || step[1] != size) {
        with_unsigned(size, [&](auto bits) { copy_elements<decltype(bits)>(out, step[1], x, step[0], n); });
    } else if (streams(geometry->traffic, geometry->operands, at, n)) {
        const auto head = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) % LINE);
        std::memcpy(out, x, static_cast<size_t>(head));
        stream_far(out + head, x + head, nbytes - head);
    } else {
        copy_bytes(out, x, nbytes);
    }
}
