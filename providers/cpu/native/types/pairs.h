// 16-bit floats as two vectors of floats, and back, without a block between them. Included once per instruction set, in
// an anonymous namespace, after isa/lanes.h and stored.h; the baseline has none.
#pragma once

#if EP_WIDTH > 16

// bfloat16 in the upper half of each lane, to nearest even. The instruction for it takes denormals for 0.
EP_INLINE V<uint32_t> narrowed_words(V<float> x) {
    const auto bits = reinterpret_cast<V<uint32_t>>(x);
    const V<uint32_t> rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
    return x == x ? rounded : bits | 0x400000U;
}

// As many elements as two vectors have, in an order of their own.
struct Pair {
    V<float> first, second;
    static constexpr int64_t elements = 2 * Vector<float>::lanes;
};

EP_INLINE Pair load_pair(const BFloat16* at) {
    const V<uint32_t> words = load(reinterpret_cast<const uint32_t*>(at));
    return {reinterpret_cast<V<float>>(words << 16), reinterpret_cast<V<float>>(words & 0xFFFF0000U)};
}
EP_INLINE void store_pair(BFloat16* at, Pair pair) {
    const V<uint32_t> first = narrowed_words(pair.first) >> 16, second = narrowed_words(pair.second) & 0xFFFF0000U;
    store(reinterpret_cast<uint32_t*>(at), first | second);
}

EP_INLINE Pair load_pair(const Half* at) {
    return {load_stored<float>(at), load_stored<float>(at + Pair::elements / 2)};
}
EP_INLINE void store_pair(Half* at, Pair pair) {
#if EP_WIDTH == 64
    auto* const to = reinterpret_cast<__m256i*>(at);
    _mm256_storeu_si256(to, _mm512_maskz_cvtps_ph(0xFFFF, pair.first, _MM_FROUND_TO_NEAREST_INT));
    _mm256_storeu_si256(to + 1, _mm512_maskz_cvtps_ph(0xFFFF, pair.second, _MM_FROUND_TO_NEAREST_INT));
#else
    auto* const to = reinterpret_cast<__m128i*>(at);
    _mm_storeu_si128(to, _mm256_cvtps_ph(pair.first, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128(to + 1, _mm256_cvtps_ph(pair.second, _MM_FROUND_TO_NEAREST_INT));
#endif
}

#endif
