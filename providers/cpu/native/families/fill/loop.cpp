// A number, as elements along one dimension.
#include "fill.h"
#include "runtime/moves.h"

void ep::fill_run(const char* element, int64_t size, char* out, int64_t step, int64_t n) {
    if (step != size) {
        with_unsigned(size, [&](auto bits) { copy_elements<decltype(bits)>(out, step, element, 0, n); });
        return;
    }
    fill_bytes(out, pattern_of(element, size), n * size);
}

void ep::fill(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n) {
    const ep_storage& to = *geometry->row->to;
    char element[sizeof(Pattern)];
    to.store(at[0], element, to.size, 1, false);
    fill_run(element, to.size, at[1], step[1], n);
}
