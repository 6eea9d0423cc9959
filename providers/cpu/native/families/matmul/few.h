// A few rows of a against a factor b whose elements lie side by side in one direction: each of them meets all rows
// where it lies. Included once per instruction set, in an anonymous namespace, after row.h and isa/squares.h.
#pragma once

// In which order the terms of a sum join it, as in panels: one after the other; of each pair the later one first; or,
// as tiles of AMX do, the even ones and the odd ones of a tile's apart, and then both.
struct InTurn {
    static constexpr bool is_later_first = false, is_apart = false;
};
struct LaterFirst {
    static constexpr bool is_later_first = true, is_apart = false;
};
struct ByTiles {
    static constexpr bool is_later_first = false, is_apart = true;
};
// Terms of such a tile.
constexpr int64_t TERMS = 32;

// The sums of M rows.
template <class Order, class T, int M>
struct FewSums {
    V<T> all[M] = {}, apart[Order::is_apart ? 2 : 1][M] = {};

    // The term at an even place, or at an odd one, of all rows; `values` are `line` bytes apart.
    template <int place>
    EP_INLINE void add(const char* values, int64_t line, V<T> column) {
        auto& own = Order::is_apart ? apart[place] : all;
#pragma GCC unroll 8
        for (int m = 0; m < M; ++m)
            own[m] = multiply_add<T>(repeated(*reinterpret_cast<const T*>(values + m * line)), column, own[m]);
    }
    EP_INLINE void end_tile() {
        if constexpr (Order::is_apart)
#pragma GCC unroll 8
            for (int m = 0; m < M; ++m) {
                all[m] += apart[0][m] + apart[1][m];
                apart[0][m] = apart[1][m] = V<T>{};
            }
    }
};

// add(number of rows, the first one) for all of a few rows, of which kernels take some at once.
template <class Add>
EP_INLINE void of_rows(int rows, Add add) {
    int m = 0;
    for (; m + 8 <= rows; m += 8) add(std::integral_constant<int, 8>{}, m);
    if (m + 4 <= rows) add(std::integral_constant<int, 4>{}, m), m += 4;
    if (m + 3 == rows) add(std::integral_constant<int, 3>{}, m), m += 3;
    if (m + 2 == rows) add(std::integral_constant<int, 2>{}, m), m += 2;
    if (m + 1 == rows) add(std::integral_constant<int, 1>{}, m);
}

// What columns along the depth are turned by: an element, or a pair of them.
template <class S>
using WordOf = std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>;

// The elements at an even place of words, or at an odd one.
template <class T, class S, int place>
EP_INLINE V<T> elements_of(V<WordOf<S>> words) {
    if constexpr (std::is_same_v<S, T>) {
        return reinterpret_cast<V<T>>(words);
    } else if constexpr (std::is_same_v<S, BFloat16>) {
        return reinterpret_cast<V<T>>(place == 0 ? words << 16 : words & 0xFFFF0000U);
    } else {
        const V<uint32_t> own = place == 0 ? words & 0xFFFFU : words >> 16;
#if EP_WIDTH == 64
        return _mm512_maskz_cvtph_ps(0xFFFF, _mm512_maskz_cvtepi32_epi16(0xFFFF, reinterpret_cast<__m512i>(own)));
#elif EP_WIDTH == 32
        const auto all = reinterpret_cast<__m256i>(own);
        return _mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
#endif
    }
}

// sums += rows @ b for M rows and as many columns of b as a vector has lanes, or fewer, along the depth: they are
// turned in registers.
template <int M, class Order, class T, class S>
EP_INLINE void add_columns(const char* row, int64_t line, const ep::Factor& b, T* sums, int64_t step) {
    using Word = WordOf<S>;
    constexpr int64_t size = sizeof(S), in_word = sizeof(Word) / sizeof(S), words = IN_LANE<Word>,
                      piece = words * in_word, of_line = ep::LINE / size;
    const auto columns = static_cast<int>(b.width);
    const bool is_whole = columns == Vector<T>::lanes;
    const auto before = [&](const T* at) { return is_whole ? load(at) : load_part(at, columns, T{0}); };
    FewSums<Order, T, M> sum;
    // What a tile adds to is a part of the chain.
    for (int m = 0; Order::is_apart && m < M; ++m) sum.all[m] = before(sums + m * step);
    const auto add = [&](int64_t d, V<Word> word, int64_t there) EP_LAMBDA {
        const char* const values = row + d * int64_t{sizeof(T)};
        if (Order::is_later_first && there > 1)
            sum.template add<1>(values + sizeof(T), line, elements_of<T, S, in_word - 1>(word));
        sum.template add<0>(values, line, elements_of<T, S, 0>(word));
        if (!Order::is_later_first && in_word > 1 && there > 1)
            sum.template add<1>(values + sizeof(T), line, elements_of<T, S, in_word - 1>(word));
    };
    for (int64_t from = 0; from < b.depth; from += of_line) {
        const int64_t end = std::min(b.depth, from + of_line);
        if (b.is_far)
            for (int i = 0; i < columns; ++i) __builtin_prefetch(b.at + i * b.width_step + from * size + ALONG_AHEAD);
        int64_t d = from;
        for (; d + piece <= end; d += piece) {
            V<Word> turned[words];
            turn_lane<Word>(b.at + d * size, b.width_step, turned, columns);
#pragma GCC unroll 4
            for (int i = 0; i < words; ++i) add(d + i * in_word, turned[i], in_word);
        }
        if (d < end) {
            alignas(ep::LINE) char rest[Vector<Word>::lanes][LANE] = {};
            for (int i = 0; i < columns; ++i)
                std::memcpy(rest[i], b.at + i * b.width_step + d * size, static_cast<size_t>((end - d) * size));
            V<Word> turned[words];
            turn_lane<Word>(rest[0], LANE, turned);
            for (int i = 0; d < end; ++i, d += in_word) add(d, turned[i], end - d);
        }
        sum.end_tile();
    }
    for (int m = 0; m < M; ++m) {
        T* const to = sums + m * step;
        const V<T> more = Order::is_apart ? V<T>{} : before(to);
        if (is_whole)
            store<T>(to, more + sum.all[m]);
        else
            store_part<T>(to, columns, more + sum.all[m]);
    }
}

// Rows for which that is better than panels.
template <class S>
constexpr int ROWS_ALONG = sizeof(S) == 2 ? 16 : 12;

template <class Order, class T, class S>
void multiply_along(const char* row, int64_t line, int rows, const ep::Factor& b, T* sums, int64_t step) {
    constexpr int64_t lanes = Vector<T>::lanes;
    for (int64_t w = 0; w < b.width; w += lanes)
        of_rows(rows, [&](auto m, int from) {
            // The first rows fetch for all.
            const ep::Factor some = {b.storage,
                                     b.at + w * b.width_step,
                                     b.width_step,
                                     b.depth_step,
                                     std::min(lanes, b.width - w),
                                     b.depth,
                                     false,
                                     b.is_far && !ep::FORESEES && from == 0};
            add_columns<m, Order, T, S>(row + from * line, line, some, sums + from * step + w, step);
        });
}

// sum += rows @ b for M rows and R rows of b, of n elements each. Where `ahead` is not 0, the rows that lie so many
// bytes further are fetched.
template <int M, int R, class Order, class T, class S>
void add_across(const char* row, int64_t line, const char* b, int64_t b_step, T* sum, int64_t step, int64_t n,
                int64_t ahead) {
    constexpr int64_t lanes = Vector<T>::lanes;
    constexpr auto place = [](int r) { return Order::is_later_first && R > 1 ? r ^ 1 : r; };
    V<T> value[M][R];
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) value[m][r] = repeated(reinterpret_cast<const T*>(row + m * line)[place(r)]);
    const auto add = [&](int64_t j, int count) {
        V<T> rows[R];
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            const S* const at = reinterpret_cast<const S*>(b + place(r) * b_step) + j;
            rows[r] = count == lanes ? load_stored<T>(at) : load_stored_part<T>(at, count);
        }
#pragma GCC unroll 8
        for (int m = 0; m < M; ++m) {
            T* const to = sum + m * step + j;
            V<T> all = count == lanes ? load(to) : load_part(to, count, T{0});
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) all = multiply_add<T>(value[m][r], rows[r], all);
            if (count == lanes)
                store<T>(to, all);
            else
                store_part<T>(to, count, all);
        }
    };
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
        if (ahead != 0 && j * int64_t{sizeof(S)} % ep::LINE == 0)
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                fetch_later(b + r * b_step + j * int64_t{sizeof(S)} + ROW_AHEAD);
                fetch_later(b + r * b_step + j * int64_t{sizeof(S)} + ahead);
            }
        add(j, lanes);
    }
    if (j < n) add(j, static_cast<int>(n - j));
}

// Rows for which it is better to meet a factor across its depth, and so many columns at once that what they meet stays
// in the first cache.
template <class S>
constexpr int ROWS_ACROSS = EP_WIDTH < 64 && sizeof(S) == 8 ? 12 : 16;
constexpr int64_t FEW_COLUMNS = 512;

// Rows of b four at a time.
template <class Order, class T, class S>
void multiply_across(const char* row, int64_t line, int rows, const ep::Factor& b, T* sums, int64_t step) {
    alignas(ep::LINE) T sum[ROWS_ACROSS<S>][FEW_COLUMNS];
    const int64_t ahead = EP_WIDTH == 64 && b.is_far ? ROWS_ABREAST * b.depth_step : 0;
    const auto place = [&](int64_t d) { return Order::is_later_first && (d ^ 1) < b.depth ? d ^ 1 : d; };
    for (int64_t from = 0; from < b.width; from += FEW_COLUMNS) {
        const int64_t n = std::min(FEW_COLUMNS, b.width - from);
        for (int m = 0; m < rows; ++m) std::memset(sum[m], 0, static_cast<size_t>(n) * sizeof(T));
        const char* const at = b.at + from * int64_t{sizeof(S)};
        for (int64_t d = 0, some; d < b.depth; d += some) {
            some = d + ROWS_ABREAST <= b.depth ? ROWS_ABREAST : 1;
            const int64_t own = some == 1 ? place(d) : d;
            of_rows(rows, [&](auto m, int first) {
                const auto add = some == 1 ? add_across<m, 1, Order, T, S> : add_across<m, ROWS_ABREAST, Order, T, S>;
                // The first rows of a fetch for all.
                add(row + first * line + own * int64_t{sizeof(T)}, line, at + own * b.depth_step, b.depth_step,
                    sum[first], FEW_COLUMNS, n, first == 0 ? ahead : 0);
            });
        }
        for (int m = 0; m < rows; ++m)
            for (int64_t j = 0; j < n; ++j) sums[m * step + from + j] += sum[m][j];
    }
}

// sums += rows @ b for M rows and up to TERMS rows of b, whose sums of `vectors` vectors of columns stay in registers
// meanwhile. `read` loads a vector; where `is_far`, the rows that follow are fetched.
template <int M, int vectors, class T, class S, class Read>
EP_INLINE void add_tile(const char* row, int64_t line, const char* b, int64_t b_step, int64_t terms, T* sums,
                        int64_t step, bool is_far, Read read) {
    constexpr int64_t lanes = Vector<T>::lanes, bytes = vectors * lanes * int64_t{sizeof(S)};
    FewSums<ByTiles, T, M> sum[vectors];
    const auto add = [&](int64_t k, auto place) EP_LAMBDA {
        const char* const at = b + k * b_step;
        if (is_far)
            for (int64_t from = 0; from < bytes; from += ep::LINE) __builtin_prefetch(at + TERMS * b_step + from, 0, 2);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v)
            sum[v].template add<place>(row + k * int64_t{sizeof(T)}, line,
                                       read(reinterpret_cast<const S*>(at) + v * lanes));
    };
    int64_t k = 0;
    for (; k + 1 < terms; k += 2) {
        add(k, std::integral_constant<int, 0>{});
        add(k + 1, std::integral_constant<int, 1>{});
    }
    if (k < terms) add(k, std::integral_constant<int, 0>{});
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
        sum[v].end_tile();
#pragma GCC unroll 8
        for (int m = 0; m < M; ++m) {
            T* const to = sums + m * step + v * lanes;
            store<T>(to, load(to) + sum[v].all[m]);
        }
    }
}

// The same for `width` columns.
template <int M, class T, class S>
void add_tiles(const char* row, int64_t line, const char* b, int64_t b_step, int64_t terms, T* sums, int64_t step,
               int64_t width, bool is_far) {
    constexpr int64_t lanes = Vector<T>::lanes;
    constexpr int vectors = 8 / (M == 3 ? 4 : M);
    const auto whole = [](const S* x) EP_LAMBDA { return load_stored<T>(x); };
    int64_t j = 0;
    const auto at = [&] { return b + j * int64_t{sizeof(S)}; };
    for (; j + vectors * lanes <= width; j += vectors * lanes)
        add_tile<M, vectors, T, S>(row, line, at(), b_step, terms, sums + j, step, is_far, whole);
    for (; j + lanes <= width; j += lanes)
        add_tile<M, 1, T, S>(row, line, at(), b_step, terms, sums + j, step, is_far, whole);
    if (j == width) return;
    const int last = static_cast<int>(width - j);
    alignas(ep::LINE) T part[M][lanes];
    for (int m = 0; m < M; ++m) store<T>(part[m], load_part(sums + m * step + j, last, T{0}));
    add_tile<M, 1, T, S>(row, line, at(), b_step, terms, part[0], lanes, false,
                         [&](const S* x) EP_LAMBDA { return load_stored_part<T>(x, last); });
    for (int m = 0; m < M; ++m) store_part(sums + m * step + j, last, load(part[m]));
}

// Rows of b as many at a time as a tile has terms.
template <class T, class S>
void multiply_tiles_across(const char* row, int64_t line, int rows, const ep::Factor& b, T* sums, int64_t step) {
    for (int64_t from = 0; from < b.width; from += FEW_COLUMNS)
        for (int64_t d = 0; d < b.depth; d += TERMS)
            of_rows(rows, [&](auto m, int first) {
                add_tiles<m, T, S>(row + first * line + d * int64_t{sizeof(T)}, line,
                                   b.at + from * int64_t{sizeof(S)} + d * b.depth_step, b.depth_step,
                                   std::min(TERMS, b.depth - d), sums + first * step + from, step,
                                   std::min(FEW_COLUMNS, b.width - from), b.is_far && first == 0);
            });
}

template <class Order, class T, class S>
void multiply_few(const void* row, int64_t line, int rows, const ep::Factor& b, void* sums, int64_t step) {
    const auto* const values = static_cast<const char*>(row);
    auto* const to = static_cast<T*>(sums);
    if (b.depth_step == int64_t{sizeof(S)})
        multiply_along<Order, T, S>(values, line, rows, b, to, step);
    else if constexpr (Order::is_apart)
        multiply_tiles_across<T, S>(values, line, rows, b, to, step);
    else
        multiply_across<Order, T, S>(values, line, rows, b, to, step);
}
