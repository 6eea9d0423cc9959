// One row of a against a factor b that is read where it lies: each of its elements meets one value, so that packing
// them would cost more than the product. Included once per instruction set, in an anonymous namespace, after lanes.h
// and types/stored.h.
#pragma once

// Sums of so many columns stay in the first cache while so many rows of b go by at a time; longer pieces of a row are
// read ahead further.
constexpr int64_t ROW_SUMS = 8 * ep::BLOCK;
constexpr int ROWS_ABREAST = 4;
// Bytes that are fetched ahead of a row of b from beyond the caches.
constexpr int64_t ROW_AHEAD = 1024;
// The same of columns along the depth, of which as many are read as a vector has lanes.
constexpr int64_t ALONG_AHEAD = 256;

// The first `count` elements of a vector from memory, which ends there, as they are stored; the others are 0.
template <class T, class S>
EP_INLINE V<T> load_stored_part(const S* at, int count) {
    if constexpr (std::is_same_v<S, T>) return load_part(at, count, T{0});
    S part[Vector<T>::lanes] = {};
    std::memcpy(part, at, static_cast<size_t>(count) * sizeof(S));
    return load_stored<T>(part);
}

// sum += row @ b for R rows of b, of n elements each as they are stored: a line of each row in turn. Where `ahead` is
// not 0, the rows that lie so many bytes further are fetched.
template <class T, int R, class S>
void add_rows(const T (&values)[ROWS_ABREAST], const S* const (&rows)[ROWS_ABREAST], T* sum, int64_t n, int64_t ahead) {
    constexpr int64_t lanes = Vector<T>::lanes;
    constexpr int of_line = std::max(1, int{ep::LINE} / int{sizeof(S) * lanes});
    V<T> value[R];
    for (int r = 0; r < R; ++r) value[r] = repeated(values[r]);
    int64_t j = 0;
    const auto add = [&](auto vectors, auto is_far) {
        for (; j + vectors * lanes <= n; j += vectors * lanes) {
            V<T> all[vectors];
            for (int v = 0; v < vectors; ++v) all[v] = load(sum + j + v * lanes);
            for (int r = 0; is_far && r < R; ++r) {
                const char* const at = reinterpret_cast<const char*>(rows[r] + j);
                __builtin_prefetch(at + ROW_AHEAD, 0, 2);
                __builtin_prefetch(at + ahead, 0, 2);
            }
            for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
                for (int v = 0; v < vectors; ++v)
                    all[v] = multiply_add<T>(value[r], load_stored<T>(rows[r] + j + v * lanes), all[v]);
            for (int v = 0; v < vectors; ++v) store<T>(sum + j + v * lanes, all[v]);
        }
    };
    if (ahead != 0)
        add(std::integral_constant<int, of_line>{}, std::true_type{});
    else
        add(std::integral_constant<int, of_line>{}, std::false_type{});
    add(std::integral_constant<int, 1>{}, std::false_type{});
    if (j == n) return;
    const int last = static_cast<int>(n - j);
    V<T> all = load_part(sum + j, last, T{0});
    for (int r = 0; r < R; ++r) all = multiply_add<T>(value[r], load_stored_part<T>(rows[r] + j, last), all);
    store_part<T>(sum + j, last, all);
}
template <class T, class S>
void add_rows(const T (&values)[ROWS_ABREAST], const S* const (&rows)[ROWS_ABREAST], int count, T* sum, int64_t n,
              int64_t ahead) {
    if (count == ROWS_ABREAST) return add_rows<T, ROWS_ABREAST>(values, rows, sum, n, ahead);
    for (int r = 0; r < count; ++r) add_rows<T, 1, S>({values[r]}, {rows[r]}, sum, n, ahead);
}

// Terms are added in the order in which panels have them: the later one of a pair first. Elements S of b are read as
// they are stored where they lie side by side.
template <class T, int terms, class S>
void multiply_row(const void* row, const ep::Factor& b, void* sums) {
    using Stored = std::conditional_t<(EP_WIDTH > 16), S, T>;
    alignas(ep::LINE) T block[ROWS_ABREAST][ep::BLOCK], sum[ROW_SUMS];
    const auto* const values = static_cast<const T*>(row);
    auto* const to = static_cast<T*>(sums);
    const auto place = [&](int64_t i) { return terms == 2 && (i ^ 1) < b.depth ? i ^ 1 : i; };
    const bool lies = sizeof(Stored) == sizeof(S) && b.width_step == int64_t{sizeof(S)};
    // With AVX2 a Zen 3 reads four rows faster by itself.
    const int64_t ahead = EP_WIDTH == 64 && b.is_far ? ROWS_ABREAST * b.depth_step : 0;
    for (int64_t from = 0; from < b.width; from += ROW_SUMS) {
        const int64_t width = b.width - from < ROW_SUMS ? b.width - from : ROW_SUMS;
        std::memset(sum, 0, static_cast<size_t>(width) * sizeof(T));
        for (int64_t i = 0; i < b.depth; i += ROWS_ABREAST) {
            const auto count = static_cast<int>(b.depth - i < ROWS_ABREAST ? b.depth - i : ROWS_ABREAST);
            T met[ROWS_ABREAST] = {};
            const char* at[ROWS_ABREAST] = {};
            const Stored* stored[ROWS_ABREAST] = {};
            for (int r = 0; r < count; ++r) {
                met[r] = values[place(i + r)];
                at[r] = b.at + place(i + r) * b.depth_step + from * b.width_step;
                stored[r] = reinterpret_cast<const Stored*>(at[r]);
            }
            if (lies) {
                add_rows(met, stored, count, sum, width, ahead);
                continue;
            }
            for (int64_t w = 0; w < width; w += ep::BLOCK) {
                const int64_t n = width - w < ep::BLOCK ? width - w : ep::BLOCK;
                const T* rows[ROWS_ABREAST] = {};
                for (int r = 0; r < count; ++r)
                    rows[r] =
                        static_cast<const T*>(b.storage->load(at[r] + w * b.width_step, b.width_step, n, block[r]));
                add_rows(met, rows, count, sum + w, n, 0);
            }
        }
        for (int64_t j = 0; j < width; ++j) to[from + j] += sum[j];
    }
}

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

// sums += rows @ b for M rows and as many columns of b as a vector has lanes, or fewer, along the depth: they are
// turned in registers, and each is one chain, as in panels.
template <int M, class T>
EP_INLINE void add_columns(const char* row, int64_t line, const ep::Factor& b, T* sums, int64_t step) {
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr int64_t square = IN_LANE<Word>, size = sizeof(T);
    const auto columns = static_cast<int>(b.width);
    V<T> all[M] = {};
    const auto add = [&](int64_t d, V<T> turned) {
#pragma GCC unroll 8
        for (int m = 0; m < M; ++m)
            all[m] = multiply_add<T>(repeated(reinterpret_cast<const T*>(row + m * line)[d]), turned, all[m]);
    };
    int64_t d = 0;
    for (; d + square <= b.depth; d += square) {
        const char* const at = b.at + d * size;
        if (b.is_far && d * size % ep::LINE == 0)
            for (int i = 0; i < columns; ++i) __builtin_prefetch(at + i * b.width_step + ALONG_AHEAD);
        V<Word> turned[square];
        turn_lane<Word>(at, b.width_step, turned, columns);
#pragma GCC unroll 4
        for (int i = 0; i < square; ++i) add(d + i, reinterpret_cast<V<T>>(turned[i]));
    }
    for (; d < b.depth; ++d) {
        T part[Vector<T>::lanes] = {};
        for (int i = 0; i < columns; ++i) std::memcpy(&part[i], b.at + i * b.width_step + d * size, sizeof(T));
        add(d, load(part));
    }
    for (int m = 0; m < M; ++m) {
        T* const to = sums + m * step;
        if (columns == Vector<T>::lanes)
            store<T>(to, load(to) + all[m]);
        else
            store_part<T>(to, columns, load_part(to, columns, T{0}) + all[m]);
    }
}

template <class T>
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
            add_columns<m, T>(row + from * line, line, some, sums + from * step + w, step);
        });
}

// sum += rows @ b for M rows and R rows of b, of n elements each; `ahead` as above.
template <int M, int R, class T>
void add_across(const char* row, int64_t line, const char* b, int64_t b_step, T* sum, int64_t step, int64_t n,
                int64_t ahead) {
    constexpr int64_t lanes = Vector<T>::lanes;
    V<T> value[M][R];
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) value[m][r] = repeated(reinterpret_cast<const T*>(row + m * line)[r]);
    const auto add = [&](int64_t j, int count) {
        V<T> rows[R];
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
            const T* const at = reinterpret_cast<const T*>(b + r * b_step) + j;
            rows[r] = count == lanes ? load(at) : load_part(at, count, T{0});
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
        if (ahead != 0)
#pragma GCC unroll 4
            for (int r = 0; r < R; ++r) {
                __builtin_prefetch(b + r * b_step + j * int64_t{sizeof(T)} + ROW_AHEAD, 0, 2);
                __builtin_prefetch(b + r * b_step + j * int64_t{sizeof(T)} + ahead, 0, 2);
            }
        add(j, lanes);
    }
    if (j < n) add(j, static_cast<int>(n - j));
}

// So many columns at once that what they meet stays in the first cache, rows of b four at a time.
template <class T>
void multiply_across(const char* row, int64_t line, int rows, const ep::Factor& b, T* sums, int64_t step) {
    constexpr int64_t columns = ROW_SUMS / ep::ROWS_ACROSS;
    alignas(ep::LINE) T sum[ep::ROWS_ACROSS][columns];
    const int64_t ahead = EP_WIDTH == 64 && b.is_far ? ROWS_ABREAST * b.depth_step : 0;
    for (int64_t from = 0; from < b.width; from += columns) {
        const int64_t n = std::min(columns, b.width - from);
        for (int m = 0; m < rows; ++m) std::memset(sum[m], 0, static_cast<size_t>(n) * sizeof(T));
        const char* at = b.at + from * int64_t{sizeof(T)};
        for (int64_t d = 0; d < b.depth;) {
            const bool are_four = d + ROWS_ABREAST <= b.depth;
            of_rows(rows, [&](auto m, int first) {
                const auto add = are_four ? add_across<m, ROWS_ABREAST, T> : add_across<m, 1, T>;
                // The first rows of a fetch for all.
                add(row + first * line + d * int64_t{sizeof(T)}, line, at, b.depth_step, sum[first], columns, n,
                    first == 0 ? ahead : 0);
            });
            d += are_four ? ROWS_ABREAST : 1;
            at += (are_four ? ROWS_ABREAST : 1) * b.depth_step;
        }
        for (int m = 0; m < rows; ++m)
            for (int64_t j = 0; j < n; ++j) sums[m * step + from + j] += sum[m][j];
    }
}

template <class T>
void multiply_few(const void* row, int64_t line, int rows, const ep::Factor& b, void* sums, int64_t step) {
    const bool is_along = b.depth_step == int64_t{sizeof(T)} && rows <= ep::ROWS_ALONG;
    (is_along ? multiply_along<T> : multiply_across<T>)(static_cast<const char*>(row), line, rows, b,
                                                        static_cast<T*>(sums), step);
}
