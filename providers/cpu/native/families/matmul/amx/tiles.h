// The innermost products of Matmul by tiles of AMX. Included for AVX-512 alone, in an anonymous namespace, after
// amx/packing.h.
#pragma once

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

// Compilers are not told that loads of tiles read memory: what this function has stored is there from here on.
EP_INLINE void settle() {
    __asm__ volatile("" ::: "memory");
}

// The instructions take constants alone.
template <class T>
struct TileDots;
#define EP_TILE_DOTS(T, dot)                                  \
    template <>                                               \
    struct TileDots<T> {                                      \
        static EP_INLINE void upper_left() { dot(0, 4, 6); }  \
        static EP_INLINE void upper_right() { dot(1, 4, 7); } \
        static EP_INLINE void lower_left() { dot(2, 5, 6); }  \
        static EP_INLINE void lower_right() { dot(3, 5, 7); } \
        static EP_INLINE void lower() {                       \
            lower_left();                                     \
            lower_right();                                    \
        }                                                     \
    };
EP_TILE_DOTS(BFloat16, _tile_dpbf16ps)
EP_TILE_DOTS(int8_t, _tile_dpbssd)
EP_TILE_DOTS(uint8_t, _tile_dpbuud)
#undef EP_TILE_DOTS

// What is fetched with each tile: lines of what comes next, of which eight panels of a bring a panel of b, and rows of
// the sums of the next panel of a, all of them with as many tiles as a panel has.
constexpr int NEXT = 4, NEXT_ROWS = 2;

// A panel of b meets all those of a and stays in the nearest cache, because loads that stream keep these and sums out
// of it: with 256 lanes 2.4 to 2.5 TFLOP/s of 3.1, 1.9 without.
template <class T, bool is_high>
EP_INLINE void multiply_tiles(const uint32_t* a, const uint32_t* b, int64_t steps, uint32_t* sums, int64_t step,
                              bool adds, const char* next) {
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
    const char* row = reinterpret_cast<const char*>(sums + 2 * TILE * step);
    for (int64_t k = 0; k < steps; k += TILE) {
#pragma GCC unroll 4
        for (int i = 0; i < NEXT; ++i, next += line) __builtin_prefetch(next, 0, 2);
#pragma GCC unroll 2
        for (int i = 0; i < NEXT_ROWS; ++i, row += bytes) {
            __builtin_prefetch(row, 1);
            __builtin_prefetch(row + line, 1);
        }
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
void dot_tiles(const void* left, const void* right, int64_t steps, void* sums, int64_t step, int count, bool adds,
               const char* next) {
    const auto *a = static_cast<const uint32_t*>(left), *b = static_cast<const uint32_t*>(right);
    auto* const to = static_cast<uint32_t*>(sums);
    if (count > TILE)
        multiply_tiles<T, true>(a, b, steps, to, step, adds, next);
    else
        multiply_tiles<T, false>(a, b, steps, to, step, adds, next);
}

#pragma GCC pop_options
