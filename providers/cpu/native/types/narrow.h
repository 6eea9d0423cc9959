// bfloat16 and float8 <-> float blocks, by bits, to nearest even. Included once per instruction set, after
// half.h and pairs.h.
#pragma once

inline void widen(const BFloat16* x, float* out, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = of_bits<float>(static_cast<uint32_t>(x[i].bits) << 16);
}

inline void narrow(const float* x, BFloat16* out, int64_t n) {
    int64_t i = 0;
#if EP_WIDTH == 64
    alignas(64) static constexpr uint16_t UPPER[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                                       33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    const __m512i upper = _mm512_load_si512(UPPER);
    for (; i + 32 <= n; i += 32)
        _mm512_storeu_si512(out + i,
                            _mm512_permutex2var_epi16(reinterpret_cast<__m512i>(narrowed_words(load(x + i))), upper,
                                                      reinterpret_cast<__m512i>(narrowed_words(load(x + i + 16)))));
#elif EP_WIDTH == 32
    for (; i + 16 <= n; i += 16) {
        const auto words = _mm256_packus_epi32(reinterpret_cast<__m256i>(narrowed_words(load(x + i)) >> 16),
                                               reinterpret_cast<__m256i>(narrowed_words(load(x + i + 8)) >> 16));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_permute4x64_epi64(words, 0xD8));
    }
#endif
#pragma GCC ivdep
    for (; i < n; ++i) out[i].bits = static_cast<uint16_t>(narrowed_word(x[i]) >> 16);
}

// A float8 with `fraction` stored bits and exponents of the given bias; `top` is the greatest finite magnitude.
// E4M3FN has no infinity: one pattern of all ones is its NaN, and numbers beyond the top become NaN.
struct E4M3FN {
    static constexpr uint32_t fraction = 3, bias = 7, top = 0x7E, beyond = 0x7F, nan = 0x7F;
};
struct E5M2 {
    static constexpr uint32_t fraction = 2, bias = 15, top = 0x7B, beyond = 0x7C, nan = 0x7E;
};

template <class Format, class T>
EP_INLINE void widen_byte(const T* x, float* out, int64_t n) {
    constexpr uint32_t shift = 23 - Format::fraction, rebias = 127 - Format::bias;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        const uint32_t magnitude = x[i].bits & 0x7FU, sign = (x[i].bits & 0x80U) << 24;
        const uint32_t wide = magnitude << shift, normal = wide + (rebias << 23);
        // A denormal is its fraction on top of the least normal number, less that number.
        constexpr uint32_t least = (rebias + 1) << 23;
        const uint32_t denormal = bits_of(of_bits<float>(wide + least) - of_bits<float>(least));
        const uint32_t finite = wide < (1U << 23) ? denormal : normal;
        const uint32_t special =
            magnitude == Format::beyond && Format::beyond != Format::nan ? 0x7F800000U : 0x7FC00000U;
        out[i] = of_bits<float>(sign | (magnitude > Format::top ? special : finite));
    }
}

template <class Format, class T>
EP_INLINE void narrow_byte(const float* x, T* out, int64_t n) {
    constexpr uint32_t shift = 23 - Format::fraction, rebias = 127 - Format::bias;
    // Adding it puts the last bit of a denormal where a float rounds.
    constexpr uint32_t anchor = (rebias + 1 + shift) << 23;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        const uint32_t bits = bits_of(x[i]), sign = (bits >> 24) & 0x80U, magnitude = bits & 0x7FFFFFFFU;
        const uint32_t odd = (magnitude >> shift) & 1U;
        const uint32_t normal = (magnitude - (rebias << 23) + ((1U << (shift - 1)) - 1) + odd) >> shift;
        const uint32_t denormal = bits_of(of_bits<float>(magnitude) + of_bits<float>(anchor)) - anchor;
        const uint32_t rounded = magnitude < ((rebias + 1) << 23) ? denormal : normal;
        const uint32_t finite = rounded > Format::top ? Format::beyond : rounded;
        out[i].bits = static_cast<uint8_t>(sign | (magnitude > 0x7F800000U ? Format::nan : finite));
    }
}

inline void widen(const Float8E4M3FN* x, float* out, int64_t n) {
    widen_byte<E4M3FN>(x, out, n);
}
inline void narrow(const float* x, Float8E4M3FN* out, int64_t n) {
    narrow_byte<E4M3FN>(x, out, n);
}
inline void widen(const Float8E5M2* x, float* out, int64_t n) {
    widen_byte<E5M2>(x, out, n);
}
inline void narrow(const float* x, Float8E5M2* out, int64_t n) {
    narrow_byte<E5M2>(x, out, n);
}
