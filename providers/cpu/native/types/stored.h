// Vectors of elements as they are computed, from memory as they are stored. Included once per instruction set, in an
// anonymous namespace, after isa/lanes.h. The baseline has none of narrow floats.
#pragma once

// A vector of elements E from memory, of floats as they are stored.
template <class E, class T>
EP_INLINE V<E> load_stored(const T* at) {
    return load(at);
}
#if EP_WIDTH == 64
template <>
EP_INLINE V<float> load_stored<float>(const BFloat16* at) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    // GCC 12 makes five instructions of __builtin_convertvector.
    return reinterpret_cast<V<float>>(reinterpret_cast<V<uint32_t>>(_mm512_maskz_cvtepu16_epi32(0xFFFF, bits)) << 16);
}
template <>
EP_INLINE V<float> load_stored<float>(const Half* at) {
    return _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
template <>
EP_INLINE V<double> load_stored<double>(const float* at) {
    return _mm512_maskz_cvtps_pd(0xFF, _mm256_loadu_ps(at));
}
template <>
EP_INLINE V<double> load_stored<double>(const BFloat16* at) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m256i words = _mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16);
    return _mm512_maskz_cvtps_pd(0xFF, _mm256_castsi256_ps(words));
}
template <>
EP_INLINE V<double> load_stored<double>(const Half* at) {
    return _mm512_maskz_cvtps_pd(0xFF, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}
#elif EP_WIDTH == 32
template <>
EP_INLINE V<float> load_stored<float>(const BFloat16* at) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    return reinterpret_cast<V<float>>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
template <>
EP_INLINE V<float> load_stored<float>(const Half* at) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}
template <>
EP_INLINE V<double> load_stored<double>(const float* at) {
    return _mm256_cvtps_pd(_mm_loadu_ps(at));
}
template <>
EP_INLINE V<double> load_stored<double>(const BFloat16* at) {
    const __m128i bits = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
    return _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(bits), 16)));
}
template <>
EP_INLINE V<double> load_stored<double>(const Half* at) {
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
}
#endif

// The first `count` lanes from memory, which ends there; the others are `rest`.
template <class E, class T>
EP_INLINE V<E> load_stored_lanes(const T* at, int count, E rest) {
    constexpr int lanes = Vector<E>::lanes;
    if (count == lanes) return load_stored<E>(at);
    if constexpr (std::is_same_v<E, T>) {
        return load_part(at, count, rest);
    } else {
        T some[lanes] = {};
        E wide[lanes];
        std::memcpy(some, at, static_cast<size_t>(count) * sizeof(T));
        store(wide, load_stored<E>(some));
        for (int i = count; i < lanes; ++i) wide[i] = rest;
        return load(wide);
    }
}
