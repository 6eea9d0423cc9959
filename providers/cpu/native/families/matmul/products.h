// The innermost products of Matmul, in registers. Included once per instruction set, in an anonymous namespace, after
// lanes.h.
#pragma once

// 16 vector registers, or 32.
constexpr int PANEL_ROWS = EP_WIDTH == 64 ? 12 : 6;
// With AVX-512 a core's own cache has 1 MiB or more: half as often panels of b come into it again. Lanes of 8 bytes
// fill it with half as many rows.
template <class L>
constexpr int64_t BLOCK_PANELS = EP_WIDTH == 64 && sizeof(L) == 4 ? 16 : 8;
// Two vectors of columns: with 2 * PANEL_ROWS sums, one row's value and the columns, all registers are in use.
constexpr int VECTORS = 2;
template <class T>
constexpr int PANEL_COLUMNS = VECTORS * Vector<T>::lanes;

// How a lane of a and one of b join a sum: in `parts` one after the other, of each of which every lane holds one.
template <class T>
struct Multiply {
    using Lane = T;
    using Sum = T;
    static constexpr int parts = 1;
    template <int part>
    static EP_INLINE V<Lane> pick(V<Lane> x) {
        return x;
    }
    static EP_INLINE V<Sum> add(V<Lane> row, V<Lane> column, V<Sum> sum) { return multiply_add<T>(row, column, sum); }
};
// Pairs of bfloat16, the later one first, as the instructions for them do.
struct MultiplyPairs {
    using Lane = uint32_t;
    using Sum = float;
    static constexpr int parts = 2;
    template <int part>
    static EP_INLINE V<Lane> pick(V<Lane> x) {
        return part == 0 ? x & 0xFFFF0000U : x << 16;
    }
    static EP_INLINE V<Sum> add(V<Lane> row, V<Lane> column, V<Sum> sum) {
        return multiply_add<float>(reinterpret_cast<V<float>>(row), reinterpret_cast<V<float>>(column), sum);
    }
};
// Pairs of whole numbers of 16 bits. Sums wrap, and unsigned numbers do so by definition.
struct MultiplyWhole {
    using Lane = uint32_t;
    using Sum = uint32_t;
    static constexpr int parts = 1;
    template <int part>
    static EP_INLINE V<Lane> pick(V<Lane> x) {
        return x;
    }
    static EP_INLINE V<Sum> add(V<Lane> row, V<Lane> column, V<Sum> sum) {
#if EP_WIDTH == 64
        const auto a = reinterpret_cast<__m512i>(row), b = reinterpret_cast<__m512i>(column);
        return in_turn(sum + reinterpret_cast<V<Sum>>(_mm512_madd_epi16(a, b)));
#elif EP_WIDTH == 32
        const auto a = reinterpret_cast<__m256i>(row), b = reinterpret_cast<__m256i>(column);
        return in_turn(sum + reinterpret_cast<V<Sum>>(_mm256_madd_epi16(a, b)));
#else
        const auto low = [](V<Lane> x) {
            return reinterpret_cast<V<Sum>>(reinterpret_cast<V<int32_t>>(x << 16) >> 16);
        };
        const auto high = [](V<Lane> x) { return reinterpret_cast<V<Sum>>(reinterpret_cast<V<int32_t>>(x) >> 16); };
        return sum + low(row) * low(column) + high(row) * high(column);
#endif
    }

   private:
    // A sum that is complete before the next step: GCC would add up the products of eight steps first, and keep them on
    // the stack.
    static EP_INLINE V<Sum> in_turn(V<Sum> sum) {
#if EP_WIDTH == 32 || (EP_WIDTH == 64 && !EP_EMULATED)
        asm("" : "+v"(sum));
#endif
        return sum;
    }
};

template <class By, int part, int R>
EP_INLINE void multiply_part(const typename By::Lane* a, const V<typename By::Lane> (&whole)[VECTORS],
                             V<typename By::Sum> (&sum)[R][VECTORS]) {
    using L = typename By::Lane;
    V<L> columns[VECTORS];
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; ++v) columns[v] = By::template pick<part>(whole[v]);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
        const V<L> row = By::template pick<part>(repeated(a[r]));
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) sum[r][v] = By::add(row, columns[v], sum[r][v]);
    }
}

// Steps in which a line of what comes next is brought into a core's own cache, as a block's panels of a need to bring a
// panel of b: one at a time, because many at once keep waiting what this product reads.
template <class L>
constexpr int64_t LINE_STEPS = EP_WIDTH == 16   ? 16
                               : sizeof(L) == 8 ? 4
                                                : 8;

template <class By, int R>
EP_INLINE void multiply_step(const typename By::Lane* a, const typename By::Lane* b,
                             V<typename By::Sum> (&sum)[R][VECTORS]) {
    using L = typename By::Lane;
    V<L> columns[VECTORS];
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; ++v) columns[v] = load(b + v * Vector<L>::lanes);
    multiply_part<By, 0, R>(a, columns, sum);
    if constexpr (By::parts == 2) multiply_part<By, 1, R>(a, columns, sum);
}

// What comes nearer while panels are multiplied: lines of the next panel of b, and where processors foresee nothing the
// rows of sums of the next panel of a, into the nearest cache. A product ends with all of its sums at once, and would
// wait for them.
template <class T, int rows>
class Ahead {
   public:
    Ahead(const char* next, const void* sums, int64_t step)
        : next_(next),
          row_(ep::FORESEES ? next : static_cast<const char*>(sums) + rows * step * int64_t{sizeof(T)}),
          step_(ep::FORESEES ? 0 : step * int64_t{sizeof(T)}) {}
    // A line of b; and a row of sums until there are as many as a panel has.
    EP_INLINE void come(bool has_row) {
        __builtin_prefetch(next_, 0, 2);
        next_ += ep::LINE;
        if (!has_row) return;
        for (int at = 0; at < VECTORS * EP_WIDTH; at += ep::LINE) __builtin_prefetch(row_ + at, 1);
        row_ += step_;
    }

   private:
    const char *next_, *row_;
    const int64_t step_;
};

// Each sum starts at zero and goes through the depth in order, whatever R: a value does not depend on its place.
template <class By, int R>
void multiply_rows(const void* left, const void* right, int64_t depth, void* sums, int64_t step, bool adds,
                   const char* next) {
    using L = typename By::Lane;
    using T = typename By::Sum;
    constexpr int lanes = Vector<L>::lanes;
    const L *a = static_cast<const L*>(left), *b = static_cast<const L*>(right);
    V<T> sum[R][VECTORS] = {};
    Ahead<T, PANEL_ROWS> ahead(next, sums, step);
    int64_t k = 0;
    for (; k + LINE_STEPS<L> <= depth; k += LINE_STEPS<L>) {
        ahead.come(k < PANEL_ROWS * LINE_STEPS<L>);
#pragma GCC unroll 8
        for (int64_t i = 0; i < LINE_STEPS<L>; ++i, a += PANEL_ROWS, b += VECTORS * lanes)
            multiply_step<By, R>(a, b, sum);
    }
    for (; k < depth; ++k, a += PANEL_ROWS, b += VECTORS * lanes) multiply_step<By, R>(a, b, sum);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) {
            T* const at = static_cast<T*>(sums) + r * step + v * lanes;
            store<T>(at, adds ? load(at) + sum[r][v] : sum[r][v]);
        }
    }
}

template <class By>
void multiply(const void* a, const void* b, int64_t depth, void* sums, int64_t step, int count, bool adds,
              const char* next) {
    auto* const rows = count <= 1   ? multiply_rows<By, 1>
                       : count <= 2 ? multiply_rows<By, 2>
                       : count <= 4 ? multiply_rows<By, 4>
                       : count <= 8 ? multiply_rows<By, std::min(8, PANEL_ROWS)>
                                    : multiply_rows<By, PANEL_ROWS>;
    rows(a, b, depth, sums, step, adds, next);
}

// R rows, the first ones of a panel of a, by PANELS panels of b: as many sums as hide how long one takes.
template <class T, int R, int PANELS>
void multiply_beside(const T* a, const T* b, int64_t panel, int64_t depth, T* sums, int64_t step, bool adds) {
    constexpr int lanes = Vector<T>::lanes, width = VECTORS * PANELS;
    const auto column = [&](int v) { return v / VECTORS * panel + v % VECTORS * lanes; };
    V<T> sum[R][width] = {};
    for (int64_t k = 0; k < depth; ++k, a += PANEL_ROWS, b += VECTORS * lanes) {
        V<T> row[R];
#pragma GCC unroll 2
        for (int r = 0; r < R; ++r) row[r] = repeated(a[r]);
#pragma GCC unroll 8
        for (int v = 0; v < width; ++v) {
            const V<T> columns = load(b + column(v));
#pragma GCC unroll 2
            for (int r = 0; r < R; ++r) sum[r][v] = multiply_add<T>(row[r], columns, sum[r][v]);
        }
    }
#pragma GCC unroll 2
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
        for (int v = 0; v < width; ++v) {
            T* const at = sums + r * step + v * lanes;
            store<T>(at, adds ? load(at) + sum[r][v] : sum[r][v]);
        }
    }
}

// Rows that have few sums in a panel: several panels at a time.
constexpr int FEW_SUMS = 2;

template <class T, int R, int PANELS>
void multiply_wide_rows(const T* a, const T* b, int64_t panels, int64_t depth, T* sums, int64_t step, bool adds) {
    const int64_t panel = depth * PANEL_COLUMNS<T>;
    int64_t j = 0;
    for (; j + PANELS <= panels; j += PANELS)
        multiply_beside<T, R, PANELS>(a, b + j * panel, panel, depth, sums + j * PANEL_COLUMNS<T>, step, adds);
    for (; j < panels; ++j)
        multiply_beside<T, R, 1>(a, b + j * panel, panel, depth, sums + j * PANEL_COLUMNS<T>, step, adds);
}
template <class T>
void multiply_wide(const void* left, const void* right, int64_t panels, int64_t depth, void* sums, int64_t step,
                   int count, bool adds) {
    const T *const a = static_cast<const T*>(left), *const b = static_cast<const T*>(right);
    if (count == 1) return multiply_wide_rows<T, 1, 4>(a, b, panels, depth, static_cast<T*>(sums), step, adds);
    multiply_wide_rows<T, 2, 2>(a, b, panels, depth, static_cast<T*>(sums), step, adds);
}

// Rows of a panel of complex numbers: each has two sums in a place.
constexpr int COMPLEX_ROWS = PANEL_ROWS / 2;

// Complex numbers times i: their parts in each other's place, the real ones negative.
template <class T, size_t... lane>
EP_INLINE V<T> times_i(V<T> z, std::index_sequence<lane...>) {
    constexpr V<T> sign = {(lane % 2 == 0 ? T{-1} : T{1})...};
#if defined(__clang__)
    return sign * __builtin_shufflevector(z, z, int(lane ^ 1)...);
#else
    return sign * __builtin_shuffle(z, V<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>{(lane ^ 1)...});
#endif
}

// Real and imaginary parts of a row of a are multiplied by both parts of b, in two sums that meet in the end.
template <class T, int R>
void multiply_complex_rows(const T* a, const T* b, int64_t depth, T* sums, int64_t step, bool adds, const char* next) {
    constexpr int lanes = Vector<T>::lanes;
    V<T> real[R][VECTORS] = {}, imaginary[R][VECTORS] = {};
    Ahead<T, COMPLEX_ROWS> ahead(next, sums, step);
    for (int64_t k = 0; k < depth; ++k, a += 2 * COMPLEX_ROWS, b += VECTORS * lanes) {
        if (k % LINE_STEPS<T> == 0) ahead.come(k < COMPLEX_ROWS * LINE_STEPS<T>);
        V<T> columns[VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) columns[v] = load(b + v * lanes);
#pragma GCC unroll 6
        for (int r = 0; r < R; ++r) {
            const V<T> re = repeated(a[2 * r]), im = repeated(a[2 * r + 1]);
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; ++v) {
                real[r][v] = multiply_add<T>(re, columns[v], real[r][v]);
                imaginary[r][v] = multiply_add<T>(im, columns[v], imaginary[r][v]);
            }
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) {
            T* const at = sums + r * step + v * lanes;
            const V<T> sum = real[r][v] + times_i<T>(imaginary[r][v], std::make_index_sequence<size_t{lanes}>{});
            store<T>(at, adds ? load(at) + sum : sum);
        }
    }
}

template <class T>
void multiply_complex(const void* a, const void* b, int64_t depth, void* sums, int64_t step, int count, bool adds,
                      const char* next) {
    auto* const rows = count <= 1   ? multiply_complex_rows<T, 1>
                       : count <= 2 ? multiply_complex_rows<T, 2>
                                    : multiply_complex_rows<T, COMPLEX_ROWS>;
    rows(static_cast<const T*>(a), static_cast<const T*>(b), depth, static_cast<T*>(sums), step, adds, next);
}
