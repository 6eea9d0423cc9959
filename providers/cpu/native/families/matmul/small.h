// Small products, whose factors are read where they lie: packing them would take as long as the product. Included once
// per instruction set, in an anonymous namespace, after products.h.
#pragma once

// Rows of a that meet columns of b at a time: sums of even terms and of odd ones take registers, too.
template <int terms>
constexpr int SMALL_ROWS = terms <= 2 ? PANEL_ROWS : PANEL_ROWS / 3;

// R rows of N vectors, of which the last has `last` columns. Terms are added in the order in which panels have them:
// the later one of a pair first, or, of more than two, even ones and odd ones apart.
template <class T, int terms, int R, int N, bool is_whole>
void multiply_block(const ep::Lying<T>& a, const ep::Lying<T>& b, int64_t depth, T* sums, int64_t step, int last) {
    constexpr int lanes = Vector<T>::lanes;
    V<T> sum[R][N] = {};
    const auto add = [&](int64_t k, V<T>(&own)[R][N]) EP_LAMBDA {
        const T *const left = a.at + k * a.column, *const right = b.at + k * b.line;
        V<T> columns[N];
#pragma GCC unroll 2
        for (int v = 0; v < N; ++v)
            columns[v] = is_whole || v + 1 < N ? load(right + v * lanes) : load_part(right + v * lanes, last, T{0});
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
            const V<T> row = repeated(left[r * a.line]);
#pragma GCC unroll 2
            for (int v = 0; v < N; ++v) own[r][v] = multiply_add<T>(row, columns[v], own[r][v]);
        }
    };
    if constexpr (terms <= 2) {
        for (int64_t i = 0; i < depth; ++i) add(terms == 2 && (i ^ 1) < depth ? i ^ 1 : i, sum);
    } else {
        for (int64_t from = 0; from < depth; from += terms) {
            V<T> even[R][N] = {}, odd[R][N] = {};
            const int64_t left = depth - from < terms ? depth - from : terms;
            for (int64_t i = 0; i + 1 < left; i += 2) {
                add(from + i, even);
                add(from + i + 1, odd);
            }
            if (left % 2 != 0) add(from + left - 1, even);
#pragma GCC unroll 12
            for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
                for (int v = 0; v < N; ++v) sum[r][v] += even[r][v] + odd[r][v];
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

// Columns of b, copied one row after the other; see is_copied.
template <class T>
ep::Lying<T> panel_of(const ep::Lying<T>& b, int64_t n, int64_t depth, T* panel) {
    constexpr int64_t lanes = Vector<T>::lanes, columns = PANEL_COLUMNS<T>;
    for (int64_t k = 0; k < depth; ++k) {
        const T* const row = b.at + k * b.line;
#pragma GCC unroll 2
        for (int64_t v = 0; v < columns; v += lanes) {
            const int64_t left = n - v;
            if (left >= lanes)
                store<T>(panel + k * columns + v, load(row + v));
            else if (left > 0)
                store<T>(panel + k * columns + v, load_part(row + v, static_cast<int>(left), T{0}));
        }
    }
    return {panel, columns, 1};
}

// sums = a @ b, whose columns are dense.
template <class T, int terms>
void multiply_small(const void* left, const void* right, int64_t m, int64_t n, int64_t depth, void* sums,
                    int64_t step) {
    static constexpr auto LINES = lines_of<T, terms>(std::make_index_sequence<SMALL_ROWS<terms>>{});
    const auto& a = *static_cast<const ep::Lying<T>*>(left);
    const auto& b = *static_cast<const ep::Lying<T>*>(right);
    const int64_t blocks = (m + SMALL_ROWS<terms> - 1) / SMALL_ROWS<terms>, most = (m + blocks - 1) / blocks;
    alignas(ep::LINE) T panel[ep::DEPTH * PANEL_COLUMNS<T>];
    const bool is_copied = ep::is_copied(blocks, depth, b.line * int64_t{sizeof(T)});
    const int64_t wide = is_copied ? PANEL_COLUMNS<T> : n;
    for (int64_t j = 0; j < n; j += wide) {
        const int64_t columns = n - j < wide ? n - j : wide;
        ep::Lying<T> from = {b.at + j, b.line, 1};
        if (is_copied) from = panel_of(from, columns, depth, panel);
        for (int64_t i = 0; i < m; i += most) {
            const int64_t rows = m - i < most ? m - i : most;
            LINES[static_cast<size_t>(rows - 1)]({a.at + i * a.line, a.line, a.column}, from, columns, depth,
                                                 static_cast<T*>(sums) + i * step + j, step);
        }
    }
}
