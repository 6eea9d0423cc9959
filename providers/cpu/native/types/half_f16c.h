// float16 <-> float blocks by F16C and AVX-512; GCC 12 does not vectorise these conversions by itself.
#pragma once

#if EP_WIDTH == 64
constexpr int HALVES = 16;
EP_INLINE void widen_step(const Half* from, float* to) {
    _mm512_storeu_ps(to, _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
}
EP_INLINE void narrow_step(const float* from, Half* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                        _mm512_maskz_cvtps_ph(0xFFFF, _mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
}
#else
constexpr int HALVES = 8;
EP_INLINE void widen_step(const Half* from, float* to) {
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
EP_INLINE void narrow_step(const float* from, Half* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
}
#endif

template <class Source, class Target, class Step>
EP_INLINE void by_steps(const Source* x, Target* out, int64_t n, Step step) {
    int64_t i = 0;
#pragma GCC unroll 4
    for (; i + HALVES <= n; i += HALVES) step(x + i, out + i);
    if (i < n) {
        Source last[HALVES] = {};
        Target done[HALVES];
        __builtin_memcpy(last, x + i, static_cast<size_t>(n - i) * sizeof(Source));
        step(last, done);
        __builtin_memcpy(out + i, done, static_cast<size_t>(n - i) * sizeof(Target));
    }
}

inline void widen(const Half* x, float* out, int64_t n) {
    by_steps(x, out, n, [](const Half* from, float* to) { widen_step(from, to); });
}

inline void narrow(const float* x, Half* out, int64_t n) {
    by_steps(x, out, n, [](const float* from, Half* to) { narrow_step(from, to); });
}
