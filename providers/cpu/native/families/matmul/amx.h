// The innermost products of Matmul by tiles of AMX: 16 rows of a, each of 16 lanes along the depth, by 16 rows of lanes
// of b. Included for AVX-512 alone, in an anonymous namespace, after dots.h.
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

// What TDPBF16PS makes of tiles, for numbers of any size: it counts denormal numbers as 0. Of each tile's terms the
// even ones and the odd ones have a sum of their own, and both sums join the one so far.
void multiply_as_tiles(const void* left, const void* right, int64_t steps, void* sums, int64_t step, int count,
                       bool adds) {
    const auto *a = static_cast<const uint32_t*>(left), *b = static_cast<const uint32_t*>(right);
    const auto float_of = [](V<uint32_t> x) { return reinterpret_cast<V<float>>(x); };
    for (int r = 0; r < std::min(count, TILE_ROWS); ++r) {
        const uint32_t* const row = a + (r / TILE * steps + r % TILE) * TILE;
        auto* const at = static_cast<float*>(sums) + r * step;
        V<float> sum[VECTORS];
        for (int v = 0; v < VECTORS; ++v) sum[v] = adds ? load(at + v * TILE) : V<float>{};
        for (int64_t k = 0; k < steps; k += TILE) {
            V<float> even[VECTORS] = {}, odd[VECTORS] = {};
            for (int i = 0; i < TILE; ++i) {
                const V<uint32_t> x = repeated(row[k * TILE + i]);
#pragma GCC unroll 2
                for (int v = 0; v < VECTORS; ++v) {
                    const V<uint32_t> column = load(b + ((k + i) * VECTORS + v) * TILE);
                    even[v] = multiply_add<float>(float_of(x << 16), float_of(column << 16), even[v]);
                    odd[v] = multiply_add<float>(float_of(x & 0xFFFF0000U), float_of(column & 0xFFFF0000U), odd[v]);
                }
            }
            for (int v = 0; v < VECTORS; ++v) sum[v] += even[v] + odd[v];
        }
        for (int v = 0; v < VECTORS; ++v) store<float>(at + v * TILE, sum[v]);
    }
}

// Terms of a sum that tiles add at a time.
constexpr int64_t TERMS = 2 * TILE;

// One row, in the same order: the sums of `vectors` vectors of columns stay in registers while so many rows of b,
// `step` bytes apart, go by. `read` loads a vector; where `is_far`, the rows that follow are fetched.
template <int vectors, class S, class Read>
EP_INLINE void add_terms_of_tile(const float* values, const char* at, int64_t step, int64_t terms, bool is_far,
                                 float* sums, Read read) {
    constexpr int64_t bytes = vectors * TILE * int64_t{sizeof(S)};
    V<float> even[vectors] = {}, odd[vectors] = {};
    const auto add = [&](int64_t k, V<float>(&own)[vectors]) EP_LAMBDA {
        const char* const row = at + k * step;
        if (is_far)
            for (int64_t line = 0; line < bytes; line += ep::LINE) __builtin_prefetch(row + TERMS * step + line, 0, 2);
        const V<float> value = repeated(values[k]);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v)
            own[v] = multiply_add<float>(value, read(reinterpret_cast<const S*>(row) + v * TILE), own[v]);
    };
    int64_t k = 0;
    for (; k + 1 < terms; k += 2) {
        add(k, even);
        add(k + 1, odd);
    }
    if (k < terms) add(k, even);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) store<float>(sums + v * TILE, load(sums + v * TILE) + (even[v] + odd[v]));
}

template <class S>
void add_tile_of_rows(const float* values, const char* at, int64_t step, int64_t terms, bool is_far, float* sums,
                      int64_t width) {
    constexpr int vectors = 8;
    constexpr int64_t size = sizeof(S);
    const auto whole = [](const S* x) EP_LAMBDA { return load_stored<float>(x); };
    int64_t j = 0;
    for (; j + vectors * TILE <= width; j += vectors * TILE)
        add_terms_of_tile<vectors, S>(values, at + j * size, step, terms, is_far, sums + j, whole);
    for (; j + TILE <= width; j += TILE)
        add_terms_of_tile<1, S>(values, at + j * size, step, terms, is_far, sums + j, whole);
    if (j == width) return;
    const int last = static_cast<int>(width - j);
    alignas(ep::LINE) float part[TILE];
    store<float>(part, load_part(sums + j, last, 0.0F));
    add_terms_of_tile<1, S>(values, at + j * size, step, terms, false, part,
                            [&](const S* x) EP_LAMBDA { return load_stored_part<float>(x, last); });
    store_part(sums + j, last, load(part));
}

void multiply_row_as_tiles(const void* row, const ep::Factor& b, void* sums) {
    constexpr int64_t block_width = 128;
    alignas(ep::LINE) float block[TERMS][block_width];
    auto* const to = static_cast<float*>(sums);
    for (int64_t first = 0; first < b.depth; first += TERMS) {
        const int64_t terms = std::min(b.depth - first, TERMS);
        const float* const values = static_cast<const float*>(row) + first;
        const char* const at = b.at + first * b.depth_step;
        if (b.width_step == b.storage->size) {
            add_tile_of_rows<BFloat16>(values, at, b.depth_step, terms, b.is_far, to, b.width);
            continue;
        }
        for (int64_t from = 0; from < b.width; from += block_width) {
            const int64_t width = std::min(b.width - from, block_width);
            for (int64_t k = 0; k < terms; ++k) {
                const char* const lying = at + k * b.depth_step + from * b.width_step;
                const void* const x = b.storage->load(lying, b.width_step, width, block[k]);
                if (x != block[k]) std::memcpy(block[k], x, static_cast<size_t>(width) * sizeof(float));
            }
            add_tile_of_rows<float>(values, reinterpret_cast<const char*>(block), sizeof block[0], terms, false,
                                    to + from, width);
        }
    }
}

#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16,amx-int8")

// All tiles are whole: the registers 0 to 3 for sums, 4 and 5 for a, 6 and 7 for b.
struct Tiles {
    uint8_t palette = 1, start = 0, none[14] = {};
    uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {TILE, TILE, TILE, TILE, TILE, TILE, TILE, TILE};
};
constexpr Tiles TILES;

void begin_tiles() {
    _tile_loadconfig(&TILES);
}
void end_tiles() {
    _tile_release();
}

// The instructions take constants alone.
template <class T>
struct TileDots;
#define EP_TILE_DOTS(T, dot)                                  \
    template <>                                               \
    struct TileDots<T> {                                      \
        static EP_INLINE void upper_left() { dot(0, 4, 6); }  \
        static EP_INLINE void upper_right() { dot(1, 4, 7); } \
        static EP_INLINE void lower() {                       \
            dot(2, 5, 6);                                     \
            dot(3, 5, 7);                                     \
        }                                                     \
    };
EP_TILE_DOTS(BFloat16, _tile_dpbf16ps)
EP_TILE_DOTS(int8_t, _tile_dpbssd)
EP_TILE_DOTS(uint8_t, _tile_dpbuud)
#undef EP_TILE_DOTS

// A panel of b meets all those of a and stays in the nearest cache, because loads that stream keep these and sums out
// of it: with 256 lanes 2.4 to 2.5 TFLOP/s of 3.1, 1.9 without.
template <class T, bool is_high>
EP_INLINE void multiply_tiles(const uint32_t* a, const uint32_t* b, int64_t steps, uint32_t* sums, int64_t step,
                              bool adds) {
    constexpr int64_t line = ep::LINE, wide = VECTORS * line;
    const int64_t bytes = step * int64_t{sizeof *sums};
    uint32_t* const below = sums + TILE * step;
    if (adds) {
        _tile_stream_loadd(0, sums, bytes);
        _tile_stream_loadd(1, sums + TILE, bytes);
        if (is_high) {
            _tile_stream_loadd(2, below, bytes);
            _tile_stream_loadd(3, below + TILE, bytes);
        }
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    const uint32_t* const lower = a + TILE * steps;
    for (int64_t k = 0; k < steps; k += TILE) {
        _tile_stream_loadd(4, a + k * TILE, line);
        _tile_loadd(6, b + k * VECTORS * TILE, wide);
        TileDots<T>::upper_left();
        _tile_loadd(7, b + k * VECTORS * TILE + TILE, wide);
        TileDots<T>::upper_right();
        if (is_high) {
            _tile_stream_loadd(5, lower + k * TILE, line);
            TileDots<T>::lower();
        }
    }
    _tile_stored(0, sums, bytes);
    _tile_stored(1, sums + TILE, bytes);
    if (is_high) {
        _tile_stored(2, below, bytes);
        _tile_stored(3, below + TILE, bytes);
    }
}

template <class T>
void dot_tiles(const void* left, const void* right, int64_t steps, void* sums, int64_t step, int count, bool adds) {
    const auto *a = static_cast<const uint32_t*>(left), *b = static_cast<const uint32_t*>(right);
    auto* const to = static_cast<uint32_t*>(sums);
    if (count > TILE)
        multiply_tiles<T, true>(a, b, steps, to, step, adds);
    else
        multiply_tiles<T, false>(a, b, steps, to, step, adds);
}

// Sums as three panels of bfloat16, which add up to them: their 24 bits are three times 8. Each panel has all steps;
// rows that are missing are 0.
constexpr int PARTS = 3;

int stage_sums(const void* sums, int64_t rows, int64_t steps, void* panel) {
    constexpr int64_t wide = VECTORS * TILE;
    constexpr uint32_t upper = 0xFFFF0000U, infinite = 0x7F800000U;
    auto* const to = static_cast<uint32_t*>(panel);
    V<uint32_t> least = ~V<uint32_t>{}, most = {};
    for (int64_t lane = 0; lane < steps * wide; lane += TILE) {
        V<float> rest[2];
        for (int term = 0; term < 2; ++term) {
            const int64_t row = lane / wide * 2 + term;
            rest[term] = row < rows ? load(static_cast<const float*>(sums) + row * wide + lane % wide) : V<float>{};
            const auto bits = reinterpret_cast<V<uint32_t>>(rest[term]), before = bits - 1;
            least = before < least ? before : least;
            most = bits > most ? bits : most;
        }
        for (int part = 0; part < PARTS; ++part) {
            V<uint32_t> bits[2];
            for (int term = 0; term < 2; ++term) {
                bits[term] = reinterpret_cast<V<uint32_t>>(rest[term]) & upper;
                rest[term] -= reinterpret_cast<V<float>>(bits[term]);
            }
            store(to + part * steps * wide + lane, bits[0] >> 16 | bits[1]);
        }
    }
    uint32_t lowest = ~0U, highest = 0;
    for (int i = 0; i < TILE; ++i) {
        lowest = std::min(lowest, least[i]);
        highest = std::max(highest, most[i]);
    }
    if (highest >= infinite) return NO_EXPONENT;
    const int exponent = static_cast<int>((lowest + 1) >> 23);
    return lowest == ~0U ? 0xFF : exponent == 0 ? NO_EXPONENT : exponent;
}

// The same of panels of bfloat16 that have neither infinities nor NaN.
int least_finite_exponent(const void* panels, int64_t lanes) {
    const auto* const x = static_cast<const uint16_t*>(panels);
    uint16_t most = 0;
    for (int64_t i = 0; i < 2 * lanes; ++i) {
        const auto size = static_cast<uint16_t>(x[i] & 0x7FFFU);
        most = size > most ? size : most;
    }
    return most >= 0x7F80U ? NO_EXPONENT : least_exponent(panels, lanes);
}

// Sums are whole multiples of 2^(e - 23).
bool stages_no_denormals(int e, int f) {
    constexpr int BIAS = 127, FRACTIONS = 7 + 23, LEAST = -126;
    return e + f - 2 * BIAS - FRACTIONS >= LEAST;
}

template <bool is_high>
EP_INLINE void multiply_parts(const uint32_t* a, const uint32_t* b, int64_t steps, float* sums, int64_t step) {
    constexpr int64_t line = ep::LINE, wide = VECTORS * TILE;
    const int64_t bytes = step * int64_t{sizeof *sums};
    float* const below = sums + TILE * step;
    const uint32_t* const lower = a + TILE * steps;
    _tile_loadd(0, sums, bytes);
    _tile_loadd(1, sums + TILE, bytes);
    if (is_high) {
        _tile_loadd(2, below, bytes);
        _tile_loadd(3, below + TILE, bytes);
    }
    for (int64_t k = 0; k < steps; k += TILE) {
        _tile_loadd(4, a + k * TILE, line);
        if (is_high) _tile_loadd(5, lower + k * TILE, line);
        for (int part = 0; part < PARTS; ++part) {
            const uint32_t* const own = b + (part * steps + k) * wide;
            _tile_loadd(6, own, VECTORS * line);
            TileDots<BFloat16>::upper_left();
            _tile_loadd(7, own + TILE, VECTORS * line);
            TileDots<BFloat16>::upper_right();
            if (is_high) TileDots<BFloat16>::lower();
        }
    }
    _tile_stored(0, sums, bytes);
    _tile_stored(1, sums + TILE, bytes);
    if (is_high) {
        _tile_stored(2, below, bytes);
        _tile_stored(3, below + TILE, bytes);
    }
}

void add_staged(const void* left, const void* right, int64_t steps, void* sums, int64_t step, int count, bool) {
    const auto *a = static_cast<const uint32_t*>(left), *b = static_cast<const uint32_t*>(right);
    (count > TILE ? multiply_parts<true> : multiply_parts<false>)(a, b, steps, static_cast<float*>(sums), step);
}

#pragma GCC pop_options
