// A number, as elements along one dimension.
#include <algorithm>

#include "fill.h"
#include "runtime/moves.h"
#include "runtime/stream.h"

namespace {

#include "types/block.h"

constexpr int64_t PIECE = 4096;

}  // namespace

void ep::fill_run(const char* element, int64_t size, char* out, int64_t step, int64_t n, bool streams) {
    if (step != size) {
        with_unsigned(size, [&](auto bits) { copy_elements<decltype(bits)>(out, step, element, 0, n); });
        return;
    }
    const Pattern pattern = pattern_of(element, size);
    const int64_t nbytes = n * size;
    if (!streams || reinterpret_cast<uintptr_t>(out) % static_cast<uintptr_t>(size) != 0)
        return fill_bytes(out, pattern, nbytes);
    alignas(LINE) char piece[PIECE];
    fill_bytes(piece, pattern, PIECE);
    const auto odd = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(out) % LINE);
    const int64_t head = std::min(odd, nbytes);
    std::memcpy(out, piece, static_cast<size_t>(head));
    for (int64_t i = head; i < nbytes; i += PIECE) stream_copy(out + i, piece, std::min(PIECE, nbytes - i));
}

void ep::fill(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n) {
    const ep_storage& to = *geometry->row->to;
    char element[WIDEST];
    to.store(at[0], element, to.size, 1, false);
    fill_run(element, to.size, at[1], step[1], n, streams(geometry->traffic, geometry->operands, at, n));
}
