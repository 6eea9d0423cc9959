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

// The first elements of two rows of 16 bits in turn, or the last ones.
template <int half, size_t... i>
EP_INLINE V<uint16_t> in_pairs(V<uint16_t> x, V<uint16_t> y, std::index_sequence<i...>) {
    constexpr int n = Vector<uint16_t>::lanes;
    return __builtin_shuffle(x, y, V<uint16_t>{static_cast<uint16_t>(half * n / 2 + i / 2 + i % 2 * n)...});
}
EP_INLINE void store_pairs(V<uint16_t> x, V<uint16_t> y, uint32_t* first, uint32_t* second) {
    constexpr auto all = std::make_index_sequence<Vector<uint16_t>::lanes>{};
    store(first, reinterpret_cast<V<uint32_t>>(in_pairs<0>(x, y, all)));
    store(second, reinterpret_cast<V<uint32_t>>(in_pairs<1>(x, y, all)));
}

// A step of so many columns of b that lie side by side, the first of `terms` rows at `at`.
template <class As>
EP_INLINE void pack_step(const char* at, int64_t row_step, int64_t terms, int64_t columns, uint32_t* to) {
    using U = typename As::Unit;
    if constexpr (sizeof(U) == 2)
        if (terms >= As::terms && columns >= VECTORS * TILE)
            return store_pairs(load(reinterpret_cast<const uint16_t*>(at)),
                               load(reinterpret_cast<const uint16_t*>(at + row_step)), to, to + TILE);
    for (int v = 0; v < VECTORS; ++v, at += TILE * sizeof(U), columns -= TILE) {
        V<uint32_t> lane = {};
        for (int term = 0; term < As::terms; ++term)
            lane |= widened<U>(at + term * row_step, term < terms ? columns : 0) << (term * 32 / As::terms);
        store(to + v * TILE, lane);
    }
}

// Bytes of each row of b that are read at a time.
constexpr int64_t PIECE = 512;

// Columns of b as they lie side by side, or as other panels have them.
template <class As>
void pack_columns(const ep::Factor& factor, void* panels) {
    using U = typename As::Unit;
    if (!factor.storage->is_direct || factor.width_step != int64_t{sizeof(U)})
        return pack<As, VECTORS * TILE>(factor, panels);
    constexpr int64_t wide = VECTORS * TILE, size = sizeof(U);
    const int64_t steps = steps_of<As>(factor.depth);
    for (int64_t from = 0; from < factor.width; from += PIECE / size)
        for (int64_t step = 0, d = 0; step < steps; ++step, d += As::terms)
            for (int64_t w = from; w < std::min(factor.width, from + PIECE / size); w += wide) {
                const char* const at = factor.at + d * factor.depth_step + w * size;
                pack_step<As>(at, factor.depth_step, factor.depth - d, factor.width - w,
                              static_cast<uint32_t*>(panels) + w * steps + step * wide);
            }
}
