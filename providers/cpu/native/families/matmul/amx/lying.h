// Products of some rows with a factor that tiles of AMX read where it lies. Included for AVX-512 alone, in an anonymous
// namespace, after dots.h and amx/tiles.h.
#pragma once

#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16,amx-int8")

// The least exponent of elements that go by, as `least_exponent` says it of all of them at once.
class LeastExponent {
   public:
    EP_INLINE void see(V<uint16_t> x) {
        const V<uint16_t> before = (x & uint16_t{0x7FFF}) - uint16_t{1};
        least_ = before < least_ ? before : least_;
    }
    int value() const {
        alignas(ep::LINE) uint16_t all[Vector<uint16_t>::lanes];
        store<uint16_t>(all, least_);
        uint16_t least = 0xFFFF;
        for (const uint16_t x : all) least = x < least ? x : least;
        return exponent_above(least);
    }

   private:
    V<uint16_t> least_ = ~V<uint16_t>{};
};

// Columns of a block, which are two tiles.
constexpr int64_t LYING = ep::LYING_COLUMNS;

// Sums from rows of a into rows of columns, and back: tiles hold them turned.
EP_INLINE V<int32_t> across_rows() {
    V<int32_t> index;
    for (int i = 0; i < TILE; ++i) index[i] = i * 2 * TILE;
    return index;
}

// Whether tiles make of numbers what other instructions do: of whole ones always.
template <class T>
EP_INLINE bool agree(int least, const LeastExponent& seen) {
    return !std::is_same_v<T, BFloat16> || has_no_denormals(least, seen.value());
}

// sums += rows of a @ columns of b along the depth: a's columns are the right factor of tiles, b's the left one, as
// each lies. Nothing is written unless the products agree with a's least exponent.
template <class T, bool is_high>
bool multiply_block_along(const uint32_t* a, const char* b, int64_t b_step, int64_t bytes, int least, int rows,
                          uint32_t* sums, int64_t step) {
    constexpr int64_t line = ep::LINE;
    alignas(ep::LINE) uint32_t turned[LYING][2 * TILE] = {};
    const auto index = reinterpret_cast<__m512i>(across_rows());
    for (int m = 0; m < rows; ++m)
        for (int v = 0; v < VECTORS; ++v)
            _mm512_i32scatter_epi32(&turned[v * TILE][m], index,
                                    reinterpret_cast<__m512i>(load(sums + m * step + v * TILE)), sizeof(uint32_t));
    settle();
    _tile_loadd(0, turned[0], sizeof turned[0]);
    _tile_loadd(2, turned[TILE], sizeof turned[0]);
    if (is_high) {
        _tile_loadd(1, turned[0] + TILE, sizeof turned[0]);
        _tile_loadd(3, turned[TILE] + TILE, sizeof turned[0]);
    }
    LeastExponent seen;
    for (int64_t at = 0; at < bytes; at += line, a += TILE * LYING) {
        for (int64_t i = 0; std::is_same_v<T, BFloat16> && i < LYING; ++i)
            seen.see(load(reinterpret_cast<const uint16_t*>(b + i * b_step + at)));
        _tile_loadd(4, b + at, b_step);
        _tile_loadd(6, a, VECTORS * line);
        TileDots<T>::upper_left();
        _tile_loadd(5, b + TILE * b_step + at, b_step);
        TileDots<T>::lower_left();
        if (is_high) {
            _tile_loadd(7, a + TILE, VECTORS * line);
            TileDots<T>::upper_right();
            TileDots<T>::lower_right();
        }
    }
    if (!agree<T>(least, seen)) return false;
    _tile_stored(0, turned[0], sizeof turned[0]);
    _tile_stored(2, turned[TILE], sizeof turned[0]);
    if (is_high) {
        _tile_stored(1, turned[0] + TILE, sizeof turned[0]);
        _tile_stored(3, turned[TILE] + TILE, sizeof turned[0]);
    }
    for (int m = 0; m < rows; ++m)
        for (int v = 0; v < VECTORS; ++v)
            store(sums + m * step + v * TILE, reinterpret_cast<V<uint32_t>>(_mm512_mask_i32gather_epi32(
                                                  __m512i{}, 0xFFFF, index, &turned[v * TILE][m], sizeof(uint32_t))));
    return true;
}

template <bool is_high>
EP_INLINE void load_left(const uint32_t* upper, const uint32_t* lower) {
    _tile_loadd(4, upper, ep::LINE);
    if (is_high) _tile_loadd(5, lower, ep::LINE);
}

// The same of rows of b, whose columns lie side by side: those of a tile are paired in the nearest cache. Of one tile
// a's are loaded already.
template <bool is_high, bool is_one>
bool multiply_block_across(const uint32_t* a, const char* b, int64_t b_step, int64_t depth, int least, float* sums,
                           int64_t step) {
    alignas(ep::LINE) uint32_t lanes[VECTORS][TILE][TILE];
    const int64_t bytes = step * int64_t{sizeof *sums};
    float* const below = sums + TILE * step;
    const uint32_t* const lower = a + depth / 2 * TILE;
    LeastExponent seen;
    for (int64_t tile = 0; tile < (is_one ? 1 : depth / TERMS); ++tile, b += TERMS * b_step) {
#pragma GCC unroll 4
        for (int i = 0; i < TILE; ++i) {
            const char* const at = b + 2 * i * b_step;
            const auto x = load(reinterpret_cast<const uint16_t*>(at)),
                       y = load(reinterpret_cast<const uint16_t*>(at + b_step));
            seen.see(x);
            seen.see(y);
            store_pairs(x, y, lanes[0][i], lanes[1][i]);
        }
        if (is_one && !has_no_denormals(least, seen.value())) return false;
        settle();
        if (tile == 0) {
            _tile_loadd(0, sums, bytes);
            _tile_loadd(1, sums + TILE, bytes);
            if (is_high) {
                _tile_loadd(2, below, bytes);
                _tile_loadd(3, below + TILE, bytes);
            }
        }
        if (!is_one) load_left<is_high>(a + tile * TILE * TILE, lower + tile * TILE * TILE);
        _tile_loadd(6, lanes[0], ep::LINE);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, lanes[1], ep::LINE);
        _tile_dpbf16ps(1, 4, 7);
        if (is_high) {
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    if (!is_one && !has_no_denormals(least, seen.value())) return false;
    _tile_stored(0, sums, bytes);
    _tile_stored(1, sums + TILE, bytes);
    if (is_high) {
        _tile_stored(2, below, bytes);
        _tile_stored(3, below + TILE, bytes);
    }
    return true;
}

// by(a block's columns of b, its sums) for each whole block that has agreed so far, and says whether it still does.
template <class Sum, class By>
EP_INLINE void each_block(const ep::Factor& b, Sum* sums, bool* agrees, By by) {
    for (int64_t j = 0; j + LYING <= b.width; j += LYING)
        if (agrees[j / LYING]) agrees[j / LYING] = by(b.at + j * b.width_step, sums + j);
}

template <class T>
void multiply_lying_along(const void* a, const ep::Factor& b, int least, int rows, void* sums, int64_t step,
                          bool* agrees) {
    constexpr auto size = int64_t{sizeof(T)};
    auto* const multiply = rows > TILE ? multiply_block_along<T, true> : multiply_block_along<T, false>;
    each_block(b, static_cast<uint32_t*>(sums), agrees, [&](const char* at, uint32_t* to) {
        return multiply(static_cast<const uint32_t*>(a), at, b.width_step, b.depth * size, least, rows, to, step);
    });
}

template <bool is_high>
void multiply_blocks_across(const uint32_t* a, const ep::Factor& b, int least, float* sums, int64_t step,
                            bool* agrees) {
    const bool is_one = b.depth == TERMS;
    if (is_one) load_left<is_high>(a, a + TILE * TILE);
    auto* const multiply = is_one ? multiply_block_across<is_high, true> : multiply_block_across<is_high, false>;
    each_block(b, sums, agrees,
               [&](const char* at, float* to) { return multiply(a, at, b.depth_step, b.depth, least, to, step); });
}

void multiply_lying_across(const void* a, const ep::Factor& b, int least, int rows, void* sums, int64_t step,
                           bool* agrees) {
    (rows > TILE ? multiply_blocks_across<true> : multiply_blocks_across<false>)(static_cast<const uint32_t*>(a), b,
                                                                                 least, static_cast<float*>(sums), step,
                                                                                 agrees);
}

#pragma GCC pop_options
