// The panels and innermost products of Matmul, for each type of elements; compiled once per instruction set.
#include <array>
#include <cstdlib>

#include "families/elementwise/elementwise.h"
#include "isa/isa.h"
#include "tiles.h"

#define EP_LAMBDA __attribute__((always_inline))

namespace {
// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "isa/copies.h"
#include "types/stored.h"
#include "isa/squares.h"
#include "products.h"
#include "packing.h"
#include "windows.h"
#include "row.h"
#include "few.h"
#include "small.h"
#include "finishing.h"
#if EP_WIDTH == 64
#include "dots.h"
#if EP_AMX
#include "amx/packing.h"
#include "amx/order.h"
#include "amx/tiles.h"
#include "amx/lying.h"
#include "amx/staging.h"
#endif
#endif
// clang-format on

// Elements of S in panels of lanes As, multiplied by By.
template <class S, class As, class By>
constexpr ep::Tile tile_of() {
    using Lane = typename As::Lane;
    constexpr int columns = PANEL_COLUMNS<Lane>;
    static_assert(columns <= ep::WINDOWS, "windows are brought for a panel at a time");
    ep::Tile tile = {};
    tile.rows = PANEL_ROWS;
    tile.columns = columns;
    tile.block = BLOCK_PANELS<Lane>;
    tile.widths = 1;
    tile.terms = As::terms;
    tile.ahead = As::ahead;
    tile.whole = As::whole;
    tile.lane = sizeof(Lane);
    tile.sum = sizeof(typename By::Sum);
    tile.storage = EP_STORAGE(S);
    tile.parts = 1U << 1 | 1U << 2 | 1U << 4 | (PANEL_ROWS > 8 ? 1U << 8 : 0U);
    tile.pack_left = pack<As, PANEL_ROWS>;
    tile.pack_right = pack<As, columns>;
    tile.bring_windows = bring_windows;
    tile.multiply = multiply<By>;
    tile.turn = turn<typename By::Sum>;
    tile.finish = finish<RealRow<typename By::Sum>>;
    return tile;
}

template <class S, class T>
constexpr ep::Tile float_tile() {
    ep::Tile tile = tile_of<S, Single<T>, Multiply<T>>();
    tile.multiply_row = multiply_row<T, 1, S>;
    tile.multiply_small = multiply_small<T, 1>;
    tile.multiply_wide = multiply_wide<T>;
    tile.wide = FEW_SUMS;
    if constexpr (EP_WIDTH > 16 || std::is_same_v<S, T>) tile.multiply_few = multiply_few<InTurn, T, S>;
    tile.few_along = ROWS_ALONG<S>;
    tile.few_across = ROWS_ACROSS<S>;
    return tile;
}

template <class T>
constexpr ep::Tile complex_tile() {
    ep::Tile tile = tile_of<Complex<T>, Single<T>, Multiply<T>>();
    tile.rows = COMPLEX_ROWS;
    tile.widths = 2;
    tile.parts = 1U << 1 | 1U << 2;
    tile.pack_left = pack_complex<T, COMPLEX_ROWS>;
    tile.pack_right = pack_complex<T, PANEL_COLUMNS<T> / 2>;
    tile.multiply = multiply_complex<T>;
    tile.turn = nullptr;
    tile.finish = finish<ComplexRow<T>>;
    return tile;
}

#if EP_WIDTH == 64
extern const ep::Tile BFLOAT16;

constexpr ep::Tile BFLOAT16_SINGLE = float_tile<BFloat16, float>();

constexpr ep::Tile pair_tile() {
    ep::Tile tile = tile_of<uint16_t, Pair<uint16_t>, MultiplyPairs>();
    tile.multiply_row = multiply_row<float, 2, BFloat16>;
    tile.multiply_few = multiply_few<LaterFirst, float, BFloat16>;
    tile.few_along = ROWS_ALONG<BFloat16>;
    tile.few_across = ROWS_ACROSS<BFloat16>;
    tile.multiply_small = multiply_small<float, 2>;
    tile.multiply = dot_pairs;
    tile.least = least_exponent;
    tile.agrees = has_no_denormals;
    tile.otherwise = &BFLOAT16;
    tile.single = &BFLOAT16_SINGLE;
    return tile;
}
constexpr ep::Tile PAIR_DOTS = pair_tile();

template <class U>
constexpr ep::Tile four_tile() {
    ep::Tile tile = tile_of<U, Four<U, 0>, MultiplyWhole>();
    tile.pack_left = pack<Four<U, FLIP>, PANEL_ROWS>;
    tile.pack_right = pack_bytes<U>;
    tile.multiply = dot_fours<U>;
    return tile;
}
template <class U>
constexpr ep::Tile FOUR_DOTS = four_tile<U>();
#endif

// Without instructions for pairs, sums of float lanes are half the work of taking pairs apart each time.
constexpr ep::Tile bfloat_tile() {
#if EP_WIDTH == 64
    ep::Tile tile = tile_of<uint16_t, Pair<uint16_t>, MultiplyPairs>();
    tile.multiply_row = multiply_row<float, 2, BFloat16>;
    tile.multiply_few = multiply_few<LaterFirst, float, BFloat16>;
    tile.few_along = ROWS_ALONG<BFloat16>;
    tile.few_across = ROWS_ACROSS<BFloat16>;
    tile.multiply_small = multiply_small<float, 2>;
    tile.better = &PAIR_DOTS;
    tile.has_better = has_pairs;
    tile.single = &BFLOAT16_SINGLE;
    return tile;
#else
    return float_tile<BFloat16, float>();
#endif
}

template <class U>
constexpr ep::Tile byte_tile() {
    ep::Tile tile = tile_of<U, Pair<U>, MultiplyWhole>();
#if EP_WIDTH == 64
    tile.better = &FOUR_DOTS<U>;
    tile.has_better = has_fours;
#endif
    return tile;
}

#if EP_WIDTH == 64 && EP_AMX
template <class T, class Narrow, class By>
constexpr ep::Tile amx_tile() {
    using As = Tiled<Narrow>;
    ep::Tile tile = tile_of<typename Narrow::Unit, As, By>();
    tile.rows = TILE_ROWS;
    tile.block = 8;
    tile.parts = 1U << TILE;
    tile.begin = begin_tiles;
    tile.end = end_tiles;
    tile.pack_left = pack_tiles<As>;
    tile.pack_right = pack_columns<As>;
    tile.multiply = dot_tiles<T>;
    tile.multiply_lying_along = multiply_lying_along<T>;
    return tile;
}

// Numbers whose sums are no whole multiples of a normal one are multiplied by other instructions, in the same order.
constexpr ep::Tile AMX_ANY = [] {
    ep::Tile tile = amx_tile<BFloat16, Pair<uint16_t>, MultiplyPairs>();
    tile.multiply = multiply_as_tiles<1>;
    return tile;
}();
constexpr ep::Tile AMX_STAGING_ANY = [] {
    ep::Tile tile = amx_tile<BFloat16, Pair<uint16_t>, MultiplyPairs>();
    tile.multiply = multiply_as_tiles<PARTS>;
    return tile;
}();
constexpr ep::Tile AMX_STAGING = [] {
    ep::Tile tile = amx_tile<BFloat16, Pair<uint16_t>, MultiplyPairs>();
    tile.multiply = add_staged;
    tile.least = least_finite_exponent;
    tile.agrees = stages_no_denormals;
    tile.otherwise = &AMX_STAGING_ANY;
    tile.stage = stage_sums;
    tile.takes = has_normal_sums;
    tile.staged = PARTS * VECTORS * ep::LINE;
    return tile;
}();
constexpr ep::Tile AMX_BFLOAT16 = [] {
    ep::Tile tile = amx_tile<BFloat16, Pair<uint16_t>, MultiplyPairs>();
    tile.multiply_row = multiply_row_as_tiles;
    tile.multiply_few = multiply_few<ByTiles, float, BFloat16>;
    tile.few_along = 1;
    tile.few_across = 4;
    tile.multiply_lying_across = multiply_lying_across;
    tile.multiply_small = multiply_small<float, TERMS>;
    tile.least = least_exponent;
    tile.agrees = has_no_denormals;
    tile.otherwise = &AMX_ANY;
    tile.single = &BFLOAT16_SINGLE;
    tile.staging = &AMX_STAGING;
    return tile;
}();
constexpr ep::Tile AMX_INT8 = amx_tile<int8_t, Four<int8_t, 0>, MultiplyWhole>();
constexpr ep::Tile AMX_UINT8 = amx_tile<uint8_t, Four<uint8_t, 0>, MultiplyWhole>();
#endif

constexpr ep::Tile FLOAT16 = float_tile<Half, float>();
const ep::Tile BFLOAT16 = bfloat_tile();
constexpr ep::Tile FLOAT32 = float_tile<float, float>();
constexpr ep::Tile FLOAT64 = float_tile<double, double>();
constexpr ep::Tile COMPLEX64 = complex_tile<float>();
constexpr ep::Tile COMPLEX128 = complex_tile<double>();
constexpr ep::Tile INT8 = byte_tile<int8_t>();
constexpr ep::Tile UINT8 = byte_tile<uint8_t>();

#define EP_MATMUL_ROW(T, R, TILE) EP_ROW("matmul", "-", T, R, ep::matmul, nullptr, nullptr, &TILE)
#define EP_MATMUL_ROWS(BFLOAT, INT, UINT)             \
    EP_MATMUL_ROW(float16, float16, FLOAT16)          \
    EP_MATMUL_ROW(float16, float32, FLOAT16)          \
    EP_MATMUL_ROW(bfloat16, bfloat16, BFLOAT)         \
    EP_MATMUL_ROW(bfloat16, float32, BFLOAT)          \
    EP_MATMUL_ROW(float32, float32, FLOAT32)          \
    EP_MATMUL_ROW(float64, float64, FLOAT64)          \
    EP_MATMUL_ROW(complex64, complex64, COMPLEX64)    \
    EP_MATMUL_ROW(complex128, complex128, COMPLEX128) \
    EP_MATMUL_ROW(int8, int32, INT)                   \
    EP_MATMUL_ROW(uint8, int32, UINT)
// clang-format off
const ep_row ROWS[] = {
    EP_MATMUL_ROWS(BFLOAT16, INT8, UINT8)
};
#if EP_WIDTH == 64 && EP_AMX
const ep_row AMX_ROWS[] = {
    EP_MATMUL_ROWS(AMX_BFLOAT16, AMX_INT8, AMX_UINT8)
};
#endif
// clang-format on

}  // namespace

EP_PART
#if EP_WIDTH == 64 && EP_AMX
EP_PART_OF(amx_matmul_part, AMX_ROWS)
#endif
