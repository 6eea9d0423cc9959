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

// Asks for a line of b for later: a Zen 5, which foresees the next lines, takes it best into the first cache.
EP_INLINE void fetch_later(const char* line) {
    if (ep::FORESEES)
        __builtin_prefetch(line);
    else
        __builtin_prefetch(line, 0, 2);
}

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
                // What lies beside these columns is another thread's.
                if (j + ROW_AHEAD / int64_t{sizeof(S)} < n) fetch_later(at + ROW_AHEAD);
                fetch_later(at + ahead);
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
