// Small products, whose factors are read where they lie: packing them would take as long as the product. Included once
// per instruction set, in an anonymous namespace, after products.h.
#pragma once

// R rows of N vectors, of which the last has `last` columns. Terms are added in the order in which panels have them.
template <class T, int terms, int R, int N, bool is_whole>
void multiply_block(const ep::Lying<T>& a, const ep::Lying<T>& b, int64_t depth, T* sums, int64_t step, int last) {
    constexpr int lanes = Vector<T>::lanes;
    V<T> sum[R][N] = {};
    for (int64_t i = 0; i < depth; ++i) {
        const int64_t k = terms == 2 && (i ^ 1) < depth ? i ^ 1 : i;
        const T *const left = a.at + k * a.column, *const right = b.at + k * b.line;
        V<T> columns[N];
#pragma GCC unroll 2
        for (int v = 0; v < N; ++v)
            columns[v] = is_whole || v + 1 < N ? load(right + v * lanes) : load_part(right + v * lanes, last, T{0});
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
            const V<T> row = repeated(left[r * a.line]);
#pragma GCC unroll 2
            for (int v = 0; v < N; ++v) sum[r][v] = multiply_add<T>(row, columns[v], sum[r][v]);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < N; ++v) {
            if (is_whole || v + 1 < N)
                store<T>(sums + r * step + v * lanes, sum[r][v]);
            else
                store_part(sums + r * step + v * lanes, last, sum[r][v]);
        }
    }
}

template <class T, int terms, int R>
void multiply_lines(const ep::Lying<T>& a, const ep::Lying<T>& b, int64_t n, int64_t depth, T* sums, int64_t step) {
    constexpr int lanes = Vector<T>::lanes;
    for (int64_t j = 0; j < n; j += VECTORS * lanes) {
        const int64_t left = n - j;
        const ep::Lying<T> from = {b.at + j, b.line, 1};
        const int last = static_cast<int>((left - 1) % lanes + 1);
        auto* const block = left >= VECTORS * lanes ? multiply_block<T, terms, R, 2, true>
                            : left > lanes          ? multiply_block<T, terms, R, 2, false>
                            : left == lanes         ? multiply_block<T, terms, R, 1, true>
                                                    : multiply_block<T, terms, R, 1, false>;
        block(a, from, depth, sums + j, step, last);
    }
}

template <class T, int terms>
using Lines = void (*)(const ep::Lying<T>&, const ep::Lying<T>&, int64_t, int64_t, T*, int64_t);
template <class T, int terms, size_t... more>
constexpr std::array<Lines<T, terms>, sizeof...(more)> lines_of(std::index_sequence<more...>) {
    return {multiply_lines<T, terms, int(more) + 1>...};
}

// sums = a @ b, whose columns are dense.
template <class T, int terms>
void multiply_small(const void* left, const void* right, int64_t m, int64_t n, int64_t depth, void* sums,
                    int64_t step) {
    static constexpr auto LINES = lines_of<T, terms>(std::make_index_sequence<PANEL_ROWS>{});
    const auto& a = *static_cast<const ep::Lying<T>*>(left);
    const auto& b = *static_cast<const ep::Lying<T>*>(right);
    const int64_t blocks = (m + PANEL_ROWS - 1) / PANEL_ROWS, most = (m + blocks - 1) / blocks;
    for (int64_t i = 0; i < m; i += most) {
        const int64_t rows = m - i < most ? m - i : most;
        LINES[static_cast<size_t>(rows - 1)]({a.at + i * a.line, a.line, a.column}, b, n, depth,
                                             static_cast<T*>(sums) + i * step, step);
    }
}
