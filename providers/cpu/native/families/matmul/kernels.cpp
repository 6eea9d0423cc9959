// The innermost products of Matmul, in registers; compiled once per instruction set.
#include "isa/isa.h"
#include "tiles.h"

namespace {
#include "isa/lanes.h"

// 16 vector registers, or 32.
constexpr int PANEL_ROWS = EP_WIDTH == 64 ? 12 : 6;
// Two vectors of columns: with 2 * PANEL_ROWS sums, one row's value and the columns, all registers are in use.
constexpr int VECTORS = 2;

// Each sum starts at zero and goes through the depth in order, whatever R: a value does not depend on its place.
template <class T, int R>
void multiply_rows(const T* a, const T* b, int64_t depth, T* sums, int64_t step) {
    constexpr int lanes = Vector<T>::lanes;
    V<T> sum[R][VECTORS] = {};
    for (int64_t k = 0; k < depth; ++k, a += PANEL_ROWS, b += VECTORS * lanes) {
        V<T> columns[VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) columns[v] = load(b + v * lanes);
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
            const V<T> row = repeated(a[r]);
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; ++v) sum[r][v] = multiply_add<T>(row, columns[v], sum[r][v]);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) {
            T* const at = sums + r * step + v * lanes;
            store<T>(at, load(at) + sum[r][v]);
        }
    }
}

template <class T>
void multiply(const void* a, const void* b, int64_t depth, void* sums, int64_t step, int count) {
    auto* const rows = count <= 1   ? multiply_rows<T, 1>
                       : count <= 2 ? multiply_rows<T, 2>
                       : count <= 4 ? multiply_rows<T, 4>
                                    : multiply_rows<T, PANEL_ROWS>;
    rows(static_cast<const T*>(a), static_cast<const T*>(b), depth, static_cast<T*>(sums), step);
}

// One row meets each value of b once, so that packing b would cost more than the product.
template <class T, int N>
void multiply_vectors(const T* a, const T* b, int64_t b_step, int64_t depth, T* sums) {
    constexpr int lanes = Vector<T>::lanes;
    V<T> sum[N] = {};
    for (int64_t k = 0; k < depth; ++k, a += PANEL_ROWS, b += b_step) {
        const V<T> row = repeated(*a);
#pragma GCC unroll 8
        for (int v = 0; v < N; ++v) sum[v] = multiply_add<T>(row, load(b + v * lanes), sum[v]);
    }
#pragma GCC unroll 8
    for (int v = 0; v < N; ++v) store<T>(sums + v * lanes, load(sums + v * lanes) + sum[v]);
}

template <class T>
int64_t multiply_row(const void* a, const void* b, int64_t b_step, int64_t depth, void* sums, int64_t columns) {
    constexpr int64_t lanes = Vector<T>::lanes;
    const auto* const left = static_cast<const T*>(a);
    const auto* const right = static_cast<const T*>(b);
    auto* const to = static_cast<T*>(sums);
    int64_t j = 0;
    for (; j + 8 * lanes <= columns; j += 8 * lanes) multiply_vectors<T, 8>(left, right + j, b_step, depth, to + j);
    for (; j + VECTORS * lanes <= columns; j += VECTORS * lanes)
        multiply_vectors<T, VECTORS>(left, right + j, b_step, depth, to + j);
    return j;
}

template <class T>
constexpr ep::Tile TILE = {PANEL_ROWS, VECTORS * Vector<T>::lanes, multiply<T>, multiply_row<T>};

// Unsigned numbers wrap by definition.
#define EP_MATMUL_ROW(T, R, S) EP_ROW("matmul", "-", T, R, ep::matmul, nullptr, nullptr, &TILE<S>)
// clang-format off
const ep_row ROWS[] = {
    EP_MATMUL_ROW(float16, float16, float)
    EP_MATMUL_ROW(float16, float32, float)
    EP_MATMUL_ROW(bfloat16, bfloat16, float)
    EP_MATMUL_ROW(bfloat16, float32, float)
    EP_MATMUL_ROW(float32, float32, float)
    EP_MATMUL_ROW(float64, float64, double)
    EP_MATMUL_ROW(complex64, complex64, float)
    EP_MATMUL_ROW(complex128, complex128, double)
    EP_MATMUL_ROW(int8, int32, uint32_t)
    EP_MATMUL_ROW(uint8, int32, uint32_t)
};
// clang-format on

}  // namespace

EP_PART
