// Products of bfloat16 with sums of another product, by tiles of AMX. Included for AVX-512 alone, in an anonymous
// namespace, after dots.h and amx/tiles.h.
#pragma once

// Sums as three panels of bfloat16, which add up to them: their 24 bits are three times 8. Each panel has all steps;
// rows that are missing are 0.
constexpr int PARTS = 3;

int stage_sums(const void* sums, int64_t rows, int64_t steps, void* panel) {
    constexpr int64_t wide = VECTORS * TILE;
    constexpr uint32_t upper = 0xFFFF0000U, infinite = 0x7F800000U;
    auto* const to = static_cast<uint32_t*>(panel);
    V<uint32_t> least = ~V<uint32_t>{}, most = {};
    for (int64_t lane = 0; lane < steps * wide; lane += TILE) {
        V<float> rest[2];
        for (int term = 0; term < 2; ++term) {
            const int64_t row = lane / wide * 2 + term;
            rest[term] = row < rows ? load(static_cast<const float*>(sums) + row * wide + lane % wide) : V<float>{};
            const auto bits = reinterpret_cast<V<uint32_t>>(rest[term]), before = bits - 1;
            least = before < least ? before : least;
            most = bits > most ? bits : most;
        }
        for (int part = 0; part < PARTS; ++part) {
            V<uint32_t> bits[2];
            for (int term = 0; term < 2; ++term) {
                bits[term] = reinterpret_cast<V<uint32_t>>(rest[term]) & upper;
                rest[term] -= reinterpret_cast<V<float>>(bits[term]);
            }
            store(to + part * steps * wide + lane, bits[0] >> 16 | bits[1]);
        }
    }
    uint32_t lowest = ~0U, highest = 0;
    for (int i = 0; i < TILE; ++i) {
        lowest = std::min(lowest, least[i]);
        highest = std::max(highest, most[i]);
    }
    if (highest >= infinite) return NO_EXPONENT;
    const int exponent = static_cast<int>((lowest + 1) >> 23);
    return lowest == ~0U ? 0xFF : exponent == 0 ? NO_EXPONENT : exponent;
}

// The same of panels of bfloat16 that have neither infinities nor NaN.
int least_finite_exponent(const void* panels, int64_t lanes) {
    const auto* const x = static_cast<const uint16_t*>(panels);
    uint16_t most = 0;
    for (int64_t i = 0; i < 2 * lanes; ++i) {
        const auto size = static_cast<uint16_t>(x[i] & 0x7FFFU);
        most = size > most ? size : most;
    }
    return most >= 0x7F80U ? NO_EXPONENT : least_exponent(panels, lanes);
}

// Sums are whole multiples of 2^(e - 23).
bool stages_no_denormals(int e, int f) {
    constexpr int BIAS = 127, FRACTIONS = 7 + 23, LEAST = -126;
    return e + f - 2 * BIAS - FRACTIONS >= LEAST;
}

// Whether there is no denormal number among sums: tiles count them as 0.
bool has_normal_sums(const void* sums, int64_t numbers) {
    const auto* const bits = static_cast<const uint32_t*>(sums);
    uint32_t least = ~0U;
    for (int64_t i = 0; i < numbers; ++i) {
        const uint32_t before = (bits[i] & 0x7FFFFFFFU) - 1U;
        least = before < least ? before : least;
    }
    return least >= 0x007FFFFFU;
}

#pragma GCC push_options
#pragma GCC target("amx-tile,amx-bf16,amx-int8")

template <bool is_high>
EP_INLINE void multiply_parts(const uint32_t* a, const uint32_t* b, int64_t steps, float* sums, int64_t step) {
    constexpr int64_t line = ep::LINE, wide = VECTORS * TILE;
    const int64_t bytes = step * int64_t{sizeof *sums};
    float* const below = sums + TILE * step;
    const uint32_t* const lower = a + TILE * steps;
    _tile_loadd(0, sums, bytes);
    _tile_loadd(1, sums + TILE, bytes);
    if (is_high) {
        _tile_loadd(2, below, bytes);
        _tile_loadd(3, below + TILE, bytes);
    }
    for (int64_t k = 0; k < steps; k += TILE) {
        _tile_loadd(4, a + k * TILE, line);
        if (is_high) _tile_loadd(5, lower + k * TILE, line);
        for (int part = 0; part < PARTS; ++part) {
            const uint32_t* const own = b + (part * steps + k) * wide;
            _tile_loadd(6, own, VECTORS * line);
            TileDots<BFloat16>::upper_left();
            _tile_loadd(7, own + TILE, VECTORS * line);
            TileDots<BFloat16>::upper_right();
            if (is_high) TileDots<BFloat16>::lower();
        }
    }
    _tile_stored(0, sums, bytes);
    _tile_stored(1, sums + TILE, bytes);
    if (is_high) {
        _tile_stored(2, below, bytes);
        _tile_stored(3, below + TILE, bytes);
    }
}

void add_staged(const void* left, const void* right, int64_t steps, void* sums, int64_t step, int count, bool,
                const char*) {
    const auto *a = static_cast<const uint32_t*>(left), *b = static_cast<const uint32_t*>(right);
    (count > TILE ? multiply_parts<true> : multiply_parts<false>)(a, b, steps, static_cast<float*>(sums), step);
}

#pragma GCC pop_options
