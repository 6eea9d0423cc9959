// float16 <-> float blocks by F16C and AVX-512; GCC 12 does not vectorise these conversions by itself.
#pragma once

template <class Source, class Target, class Step>
EP_INLINE void by_eights(const Source* x, Target* out, int64_t n, Step step) {
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) step(x + i, out + i);
    if (i < n) {
        Source last[8] = {};
        Target done[8];
        __builtin_memcpy(last, x + i, static_cast<size_t>(n - i) * sizeof(Source));
        step(last, done);
        __builtin_memcpy(out + i, done, static_cast<size_t>(n - i) * sizeof(Target));
    }
}

inline void widen(const Half* x, float* out, int64_t n) {
    by_eights(x, out, n, [](const Half* from, float* to) {
        _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
    });
}

inline void narrow(const float* x, Half* out, int64_t n) {
    by_eights(x, out, n, [](const float* from, Half* to) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
    });
}
