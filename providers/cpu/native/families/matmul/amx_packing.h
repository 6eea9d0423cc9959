// How the factors of a Matmul become tiles of AMX: 16 rows of 16 lanes of 4 bytes each. Included for AVX-512 alone, in
// an anonymous namespace, after packing.h.
#pragma once

// Rows of a tile, and lanes of each of them.
constexpr int TILE = 16;
// A panel of a is two tiles high, as one of b is two wide: four products have two loads of either factor.
constexpr int TILE_ROWS = 2 * TILE;

// Lanes as tiles have them: depths are filled up with zeros.
template <class As>
struct Tiled : As {
    static constexpr int ahead = 0, whole = TILE;
};

// Rows of a that are fetched ahead of the one that is copied: nothing else would, because each ends soon.
constexpr int64_t AHEAD = 4;

// The first `count` elements of a line from memory, or all of it; the others are 0.
template <class U>
EP_INLINE V<uint32_t> first_elements(const U* at, int64_t count) {
    constexpr int64_t line = ep::LINE / int64_t{sizeof(U)};
    if (count >= line) return load(reinterpret_cast<const uint32_t*>(at));
    const uint64_t mask = count <= 0 ? 0 : ~uint64_t{0} >> (64 - count * int64_t{sizeof(U)});
    return reinterpret_cast<V<uint32_t>>(_mm512_maskz_loadu_epi8(mask, at));
}

// The first `count` of so many elements as lanes, which have them lowest.
template <class U>
EP_INLINE V<uint32_t> widened(const char* at, int64_t count) {
    const auto mask = static_cast<__mmask16>(count <= 0 ? 0 : count >= TILE ? 0xFFFF : (1 << count) - 1);
    if constexpr (sizeof(U) == 2)
        return reinterpret_cast<V<uint32_t>>(_mm512_maskz_cvtepu16_epi32(mask, _mm256_maskz_loadu_epi16(mask, at)));
    else
        return reinterpret_cast<V<uint32_t>>(_mm512_maskz_cvtepu8_epi32(mask, _mm_maskz_loadu_epi8(mask, at)));
}

// Each 16 rows of a as tiles that follow each other along the depth.
template <class As>
void pack_tiles(const ep::Factor& factor, void* panels) {
    using U = typename As::Unit;
    const int64_t steps = steps_of<As>(factor.depth), panel = TILE * steps;
    auto* const lanes = static_cast<uint32_t*>(panels);
    const int64_t tiles = (factor.width + TILE - 1) / TILE;
    if (tiles % 2 != 0) std::memset(lanes + tiles * panel, 0, static_cast<size_t>(panel) * sizeof *lanes);
    if (std::abs(factor.width_step) <= std::abs(factor.depth_step)) {
        pack_across<As, TILE>(factor, lanes);
        for (uint32_t* square = lanes; square < lanes + tiles * panel; square += TILE * TILE) {
            V<uint32_t> rows[TILE];
#pragma GCC unroll 4
            for (int i = 0; i < TILE; i += IN_LANE<uint32_t>)
                turn_lane<uint32_t>(reinterpret_cast<const char*>(square + i), TILE * sizeof *square,
                                    reinterpret_cast<V<uint32_t>(&)[IN_LANE<uint32_t>]>(rows[i]));
#pragma GCC unroll 16
            for (int i = 0; i < TILE; ++i) store(square + i * TILE, rows[i]);
        }
        return;
    }
    alignas(ep::LINE) U block[std::max<int64_t>(ep::BLOCK, ep::DEPTH * As::terms)];
    constexpr int64_t line = ep::LINE / int64_t{sizeof(U)};
    for (int64_t w = 0; w < tiles * TILE; ++w) {
        const bool is_there = w < factor.width;
        const char* const at = factor.at + w * factor.width_step;
        const U* const x = is_there
                               ? static_cast<const U*>(factor.storage->load(at, factor.depth_step, factor.depth, block))
                               : NOTHING<U>;
        uint32_t* const to = lanes + w / TILE * panel + w % TILE * TILE;
        if (w + AHEAD < factor.width)
            for (int64_t k = 0; k < steps; k += TILE)
                __builtin_prefetch(at + AHEAD * factor.width_step + k * int64_t{sizeof *to});
        for (int64_t k = 0, d = 0; k < steps; k += TILE, d += line)
            store(to + k * TILE, first_elements(x + d, is_there ? factor.depth - d : 0));
    }
}

// Columns of b as they lie side by side, or as other panels have them.
template <class As>
void pack_columns(const ep::Factor& factor, void* panels) {
    using U = typename As::Unit;
    if (!factor.storage->is_direct || factor.width_step != int64_t{sizeof(U)})
        return pack<As, VECTORS * TILE>(factor, panels);
    const int64_t steps = steps_of<As>(factor.depth);
    auto* const lanes = static_cast<uint32_t*>(panels);
    for (int64_t w = 0; w < factor.width; w += VECTORS * TILE) {
        uint32_t* to = lanes + w * steps;
        for (int64_t d = 0; d < steps * As::terms; d += As::terms)
            for (int v = 0; v < VECTORS; ++v, to += TILE) {
                const char* const at = factor.at + d * factor.depth_step + (w + v * TILE) * int64_t{sizeof(U)};
                const int64_t columns = factor.width - w - v * TILE;
                V<uint32_t> lane = {};
                for (int term = 0; term < As::terms; ++term)
                    lane |= widened<U>(at + term * factor.depth_step, d + term < factor.depth ? columns : 0)
                            << (term * 32 / As::terms);
                store(to, lane);
            }
    }
}
