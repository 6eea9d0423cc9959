// Products of bfloat16 in the order in which tiles of AMX add their terms, by other instructions. Included for AVX-512
// alone, in an anonymous namespace, after few.h and amx/packing.h.
#pragma once

// What TDPBF16PS makes of tiles, for numbers of any size: it counts denormal numbers as 0. Of each tile's terms the
// even ones and the odd ones have a sum of their own, and both sums join the one so far. A panel of b may have `parts`,
// of all steps each, which meet each tile of a in turn.
template <int parts>
void multiply_as_tiles(const void* left, const void* right, int64_t steps, void* sums, int64_t step, int count,
                       bool adds, const char*) {
    const auto *a = static_cast<const uint32_t*>(left), *b = static_cast<const uint32_t*>(right);
    const auto float_of = [](V<uint32_t> x) { return reinterpret_cast<V<float>>(x); };
    for (int r = 0; r < std::min(count, TILE_ROWS); ++r) {
        const uint32_t* const row = a + (r / TILE * steps + r % TILE) * TILE;
        auto* const at = static_cast<float*>(sums) + r * step;
        V<float> sum[VECTORS];
        for (int v = 0; v < VECTORS; ++v) sum[v] = adds ? load(at + v * TILE) : V<float>{};
        for (int64_t at_part = 0; at_part < steps * parts; at_part += TILE) {
            const int64_t k = at_part / parts / TILE * TILE, part = at_part / TILE % parts;
            V<float> even[VECTORS] = {}, odd[VECTORS] = {};
            for (int i = 0; i < TILE; ++i) {
                const V<uint32_t> x = repeated(row[k * TILE + i]);
#pragma GCC unroll 2
                for (int v = 0; v < VECTORS; ++v) {
                    const V<uint32_t> column = load(b + ((part * steps + k + i) * VECTORS + v) * TILE);
                    even[v] = multiply_add<float>(float_of(x << 16), float_of(column << 16), even[v]);
                    odd[v] = multiply_add<float>(float_of(x & 0xFFFF0000U), float_of(column & 0xFFFF0000U), odd[v]);
                }
            }
            for (int v = 0; v < VECTORS; ++v) sum[v] += even[v] + odd[v];
        }
        for (int v = 0; v < VECTORS; ++v) store<float>(at + v * TILE, sum[v]);
    }
}

// One row, in the same order.
void multiply_row_as_tiles(const void* row, const ep::Factor& b, void* sums) {
    constexpr int64_t block_width = 128;
    alignas(ep::LINE) float block[TERMS][block_width];
    auto* const to = static_cast<float*>(sums);
    for (int64_t first = 0; first < b.depth; first += TERMS) {
        const int64_t terms = std::min(b.depth - first, TERMS);
        const char* const values = static_cast<const char*>(row) + first * int64_t{sizeof(float)};
        const char* const at = b.at + first * b.depth_step;
        if (b.width_step == b.storage->size) {
            add_tiles<1, float, BFloat16>(values, 0, at, b.depth_step, terms, to, 0, b.width, b.is_far);
            continue;
        }
        for (int64_t from = 0; from < b.width; from += block_width) {
            const int64_t width = std::min(b.width - from, block_width);
            for (int64_t k = 0; k < terms; ++k) {
                const char* const lying = at + k * b.depth_step + from * b.width_step;
                const void* const x = b.storage->load(lying, b.width_step, width, block[k]);
                if (x != block[k]) std::memcpy(block[k], x, static_cast<size_t>(width) * sizeof(float));
            }
            add_tiles<1, float, float>(values, 0, reinterpret_cast<const char*>(block), sizeof block[0], terms,
                                       to + from, 0, width, false);
        }
    }
}
