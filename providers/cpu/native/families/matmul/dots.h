// The innermost products of Matmul by instructions for them: pairs of bfloat16, and fours of bytes. Included for
// AVX-512 alone, in an anonymous namespace, after products.h and packing.h.
#pragma once

#pragma GCC push_options
#if !EP_EMULATED
#pragma GCC target("avx512bf16,avx512vnni")
#endif

// These count denormal numbers as 0, so they serve where there can be none; they add the later one of a pair first.
template <int R>
void dot_rows(const void* left, const void* right, int64_t depth, void* sums, int64_t step, bool adds) {
    const auto* a = static_cast<const uint32_t*>(left);
    const auto* b = static_cast<const char*>(right);
    __m512 sum[R][VECTORS] = {};
    for (int64_t k = 0; k < depth; ++k, a += PANEL_ROWS, b += VECTORS * EP_WIDTH) {
        __m512bh columns[VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) columns[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + v * EP_WIDTH));
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
            const auto row = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(a[r])));
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; ++v) sum[r][v] = _mm512_dpbf16_ps(sum[r][v], row, columns[v]);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) {
            float* const at = static_cast<float*>(sums) + r * step + v * 16;
            _mm512_storeu_ps(at, adds ? _mm512_add_ps(_mm512_loadu_ps(at), sum[r][v]) : sum[r][v]);
        }
    }
}

template <class U>
EP_INLINE V<int32_t> add_dots(V<int32_t> sum, V<int32_t> row, V<int32_t> column) {
    const auto to = reinterpret_cast<__m512i>(sum), a = reinterpret_cast<__m512i>(row),
               b = reinterpret_cast<__m512i>(column);
    return reinterpret_cast<V<int32_t>>(std::is_signed_v<U> ? _mm512_dpbusd_epi32(to, a, b)
                                                            : _mm512_dpbusd_epi32(to, b, a));
}

// Bytes of a are flipped, because one factor has to be unsigned and the other signed: that adds 128 times, or
// subtracts, the sum of a column of b. Sums begin with what takes it back, the first row of a panel of b. They wrap,
// and unsigned numbers do so by definition.
constexpr uint32_t FLIP = 0x80808080U;

template <class U>
void pack_bytes(const ep::Factor& factor, void* panels) {
    constexpr int columns = VECTORS * 16;
    pack<Four<U, 0>, columns>(factor, panels);
    const V<int32_t> flip = repeated(static_cast<int32_t>(FLIP));
    const int64_t steps = (factor.depth + 3) / 4;
    auto* at = static_cast<int32_t*>(panels);
    for (int64_t w = 0; w < factor.width; w += columns, at += (1 + steps) * columns) {
        V<int32_t> sum[VECTORS] = {};
        for (int64_t k = 1; k <= steps; ++k)
            for (int v = 0; v < VECTORS; ++v) sum[v] = add_dots<U>(sum[v], flip, load(at + k * columns + v * 16));
        for (int v = 0; v < VECTORS; ++v) store<int32_t>(at + v * 16, -sum[v]);
    }
}

template <class U, int R>
void dot_bytes(const void* left, const void* right, int64_t depth, void* sums, int64_t step, bool adds) {
    const auto *a = static_cast<const int32_t*>(left) + PANEL_ROWS, *b = static_cast<const int32_t*>(right);
    V<int32_t> sum[R][VECTORS];
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) sum[r][v] = load(b + v * 16);
    }
    for (int64_t k = 1; k < depth; ++k, a += PANEL_ROWS) {
        b += VECTORS * 16;
        V<int32_t> columns[VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) columns[v] = load(b + v * 16);
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
            const V<int32_t> row = repeated(a[r]);
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; ++v) sum[r][v] = add_dots<U>(sum[r][v], row, columns[v]);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; ++v) {
            auto* const at = static_cast<uint32_t*>(sums) + r * step + v * 16;
            const auto own = reinterpret_cast<V<uint32_t>>(sum[r][v]);
            store<uint32_t>(at, adds ? load(at) + own : own);
        }
    }
}

void dot_pairs(const void* a, const void* b, int64_t depth, void* sums, int64_t step, int count, bool adds,
               const char*) {
    auto* const rows = count <= 1   ? dot_rows<1>
                       : count <= 2 ? dot_rows<2>
                       : count <= 4 ? dot_rows<4>
                       : count <= 8 ? dot_rows<8>
                                    : dot_rows<12>;
    rows(a, b, depth, sums, step, adds);
}

template <class U>
void dot_fours(const void* a, const void* b, int64_t depth, void* sums, int64_t step, int count, bool adds,
               const char*) {
    auto* const rows = count <= 1   ? dot_bytes<U, 1>
                       : count <= 2 ? dot_bytes<U, 2>
                       : count <= 4 ? dot_bytes<U, 4>
                       : count <= 8 ? dot_bytes<U, 8>
                                    : dot_bytes<U, 12>;
    rows(a, b, depth, sums, step, adds);
}

#pragma GCC pop_options

// The exponent of the least number that is not 0, biased by 127; denormal numbers have none.
constexpr int NO_EXPONENT = -127;

// Of the number whose bits are one more than these.
inline int exponent_above(uint16_t before) {
    const int exponent = (before + 1) >> 7;
    return exponent == 0 ? NO_EXPONENT : exponent;
}

inline int least_exponent(const void* panels, int64_t lanes) {
    const auto* const x = static_cast<const uint16_t*>(panels);
    uint16_t least = 0xFFFF;
    for (int64_t i = 0; i < 2 * lanes; ++i) {
        const auto before = static_cast<uint16_t>((x[i] & 0x7FFFU) - 1U);
        least = before < least ? before : least;
    }
    return exponent_above(least);
}

// Numbers whose exponents are e and f have products that are whole multiples of 2^(e + f - 14), and so have all sums of
// these: none is denormal if that is a normal number.
inline bool has_no_denormals(int e, int f) {
    constexpr int BIAS = 127, FRACTIONS = 14, LEAST = -126;
    return e + f - 2 * BIAS - FRACTIONS >= LEAST;
}

inline bool has_pairs() {
    return EP_EMULATED || __builtin_cpu_supports("avx512bf16");
}
inline bool has_fours() {
    return EP_EMULATED || __builtin_cpu_supports("avx512vnni");
}
