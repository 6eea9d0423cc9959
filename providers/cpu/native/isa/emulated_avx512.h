// The instructions of AVX-512 that kernels name, lane by lane, so that its kernels run on any x86 processor of AVX2:
// slowly, with the same bits. Only builds with EP_EMULATED include it, and only `make emulated` makes these.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>

#pragma GCC diagnostic ignored "-Wpsabi"

namespace {

template <class To, class From>
EP_INLINE To lanes_of(const From& x) {
    To lanes;
    std::memcpy(&lanes, &x, sizeof lanes);
    return lanes;
}
// A result whose lane i is function(i).
template <class Result, int lanes, class Function>
EP_INLINE Result each_lane(Function function) {
    Result out;
    for (int i = 0; i < lanes; ++i) out[i] = function(i);
    return out;
}

typedef uint8_t Bytes64 __attribute__((vector_size(64)));
typedef int8_t SignedBytes64 __attribute__((vector_size(64)));
typedef int16_t Words32 __attribute__((vector_size(64)));
typedef int32_t Ints16 __attribute__((vector_size(64)));
typedef uint32_t Bits16 __attribute__((vector_size(64)));
typedef int64_t Longs8 __attribute__((vector_size(64)));

template <class Register>
EP_INLINE Register emulated_load(const void* at) {
    Register x;
    std::memcpy(&x, at, sizeof x);
    return x;
}
template <class Register>
EP_INLINE void emulated_store(void* at, Register x) {
    std::memcpy(at, &x, sizeof x);
}
template <class Register, int lanes, class T>
EP_INLINE Register emulated_mask_load(Register rest, unsigned mask, const T* at) {
    return each_lane<Register, lanes>([&](int i) { return (mask >> i & 1U) != 0 ? at[i] : rest[i]; });
}
template <int lanes, class T, class Register>
EP_INLINE void emulated_mask_store(T* at, unsigned mask, Register x) {
    for (int i = 0; i < lanes; ++i)
        if ((mask >> i & 1U) != 0) at[i] = x[i];
}

// A half at a time, by the instructions of F16C and AVX.
EP_INLINE __m512 emulated_cvtph_ps(__m256i x) {
    const __m256 halves[2] = {_mm256_cvtph_ps(_mm256_castsi256_si128(x)),
                              _mm256_cvtph_ps(_mm256_extracti128_si256(x, 1))};
    return lanes_of<__m512>(halves);
}
EP_INLINE __m256i emulated_cvtps_ph(__m512 x) {
    __m256 halves[2];
    std::memcpy(halves, &x, sizeof halves);
    const __m128i narrow[2] = {_mm256_cvtps_ph(halves[0], _MM_FROUND_TO_NEAREST_INT),
                               _mm256_cvtps_ph(halves[1], _MM_FROUND_TO_NEAREST_INT)};
    return lanes_of<__m256i>(narrow);
}
EP_INLINE __m256 emulated_cvtpd_ps(__m512d x) {
    return each_lane<__m256, 8>([&](int i) { return static_cast<float>(x[i]); });
}
EP_INLINE __m512d emulated_cvtps_pd(__m256 x) {
    return each_lane<__m512d, 8>([&](int i) { return static_cast<double>(x[i]); });
}

EP_INLINE __m256i emulated_narrow(__m512i x) {
    uint32_t words[16];
    uint16_t low[16];
    std::memcpy(words, &x, sizeof words);
    for (int i = 0; i < 16; ++i) low[i] = static_cast<uint16_t>(words[i]);
    return lanes_of<__m256i>(low);
}
EP_INLINE __m512i emulated_insert(__m512i x, __m128i two, int place) {
    Longs8 lanes = lanes_of<Longs8>(x);
    lanes[2 * place] = two[0];
    lanes[2 * place + 1] = two[1];
    return lanes_of<__m512i>(lanes);
}
EP_INLINE __m512i emulated_permute_words(__m512i a, __m512i index, __m512i b) {
    const auto left = lanes_of<Words32>(a), places = lanes_of<Words32>(index), right = lanes_of<Words32>(b);
    return lanes_of<__m512i>(each_lane<Words32, 32>(
        [&](int i) { return (places[i] & 32) != 0 ? right[places[i] & 31] : left[places[i] & 31]; }));
}
// The first eight numbers of type T as ones of eight bytes.
template <class T, class X>
EP_INLINE __m512i emulated_longs(X x) {
    typedef T Numbers __attribute__((vector_size(sizeof(X))));
    const auto numbers = lanes_of<Numbers>(x);
    return lanes_of<__m512i>(each_lane<Longs8, 8>([&](int i) { return static_cast<int64_t>(numbers[i]); }));
}
EP_INLINE __m512i emulated_least_bytes(__m512i a, __m512i b) {
    typedef uint8_t Bytes64 __attribute__((vector_size(64)));
    const auto left = lanes_of<Bytes64>(a), right = lanes_of<Bytes64>(b);
    return lanes_of<__m512i>(left < right ? left : right);
}
EP_INLINE __m512i emulated_sums_of_differences(__m512i a, __m512i b) {
    typedef uint8_t Bytes64 __attribute__((vector_size(64)));
    const auto left = lanes_of<Bytes64>(a), right = lanes_of<Bytes64>(b);
    return lanes_of<__m512i>(each_lane<Longs8, 8>([&](int i) {
        int64_t sum = 0;
        for (int k = 8 * i; k < 8 * i + 8; ++k) sum += std::abs(int{left[k]} - int{right[k]});
        return sum;
    }));
}
EP_INLINE __m512i emulated_widen(__m256i x) {
    typedef uint16_t Words16 __attribute__((vector_size(32)));
    return lanes_of<__m512i>(__builtin_convertvector(reinterpret_cast<Words16>(x), Bits16));
}
// Products of the lower halves of 64-bit lanes.
EP_INLINE __m512i emulated_mul_words(__m512i a, __m512i b) {
    const auto x = lanes_of<Longs8>(a), y = lanes_of<Longs8>(b);
    return lanes_of<__m512i>(each_lane<Longs8, 8>([&](int i) {
        return static_cast<int64_t>(uint64_t{static_cast<uint32_t>(x[i])} * static_cast<uint32_t>(y[i]));
    }));
}
// Sums of neighbouring products: of 16-bit numbers, and of four bytes, unsigned ones of a and signed ones of b.
EP_INLINE __m512i emulated_madd(__m512i a, __m512i b) {
    const auto x = lanes_of<Words32>(a), y = lanes_of<Words32>(b);
    return lanes_of<__m512i>(each_lane<Bits16, 16>([&](int i) {
        return static_cast<uint32_t>(x[2 * i] * y[2 * i]) + static_cast<uint32_t>(x[2 * i + 1] * y[2 * i + 1]);
    }));
}
EP_INLINE __m512i emulated_dpbusd(__m512i sum, __m512i a, __m512i b) {
    const auto to = lanes_of<Bits16>(sum);
    const auto x = lanes_of<Bytes64>(a);
    const auto y = lanes_of<SignedBytes64>(b);
    return lanes_of<__m512i>(each_lane<Bits16, 16>([&](int i) {
        int four = 0;
        for (int k = 4 * i; k < 4 * i + 4; ++k) four += x[k] * y[k];
        return to[i] + static_cast<uint32_t>(four);
    }));
}
// The later product first; denormal numbers, of factors and of sums, are 0.
EP_INLINE float without_denormals(float x) {
    return std::fabs(x) < 1.17549435e-38F ? std::copysign(0.0F, x) : x;
}
EP_INLINE __m512 emulated_dpbf16(__m512 sum, __m512bh a, __m512bh b) {
    const auto x = lanes_of<Bits16>(a), y = lanes_of<Bits16>(b);
    const auto number = [](uint32_t bits) { return without_denormals(lanes_of<float>(bits)); };
    return each_lane<__m512, 16>([&](int i) {
        const float later = without_denormals(
            std::fma(number(x[i] & 0xFFFF0000U), number(y[i] & 0xFFFF0000U), without_denormals(sum[i])));
        return without_denormals(std::fma(number(x[i] << 16), number(y[i] << 16), later));
    });
}
template <int lanes, class X>
EP_INLINE uint32_t emulated_not_less(X a, X b) {
    uint32_t mask = 0;
    for (int i = 0; i < lanes; ++i) mask |= static_cast<uint32_t>(!(a[i] < b[i])) << i;
    return mask;
}
template <int lanes, class X>
EP_INLINE X emulated_scalef(uint32_t mask, X x, X by) {
    using T = std::decay_t<decltype(x[0])>;
    return each_lane<X, lanes>([&](int i) {
        if ((mask >> i & 1) == 0) return T{0};
        return std::isnan(by[i]) ? by[i] : std::ldexp(x[i], static_cast<int>(std::floor(by[i])));
    });
}

}  // namespace

#define _mm512_load_si512(at) emulated_load<__m512i>(at)
#define _mm512_loadu_si512(at) emulated_load<__m512i>(at)
#define _mm512_loadu_ps(at) emulated_load<__m512>(at)
#define _mm512_storeu_si512(at, x) emulated_store<__m512i>(at, x)
#define _mm512_stream_si512(at, x) emulated_store<__m512i>(at, x)
#define _mm512_storeu_ps(at, x) emulated_store<__m512>(at, x)
#define _mm512_mask_loadu_ps(rest, mask, at) emulated_mask_load<__m512, 16>(rest, mask, at)
#define _mm512_mask_loadu_pd(rest, mask, at) emulated_mask_load<__m512d, 8>(rest, mask, at)
#define _mm512_mask_storeu_ps(at, mask, x) emulated_mask_store<16>(at, mask, x)
#define _mm512_mask_storeu_pd(at, mask, x) emulated_mask_store<8>(at, mask, x)
#define _mm512_maskz_cvtph_ps(mask, x) emulated_cvtph_ps(x)
#define _mm512_maskz_cvtepu16_epi32(mask, x) emulated_widen(x)
#define _mm512_maskz_cvtepi32_epi16(mask, x) emulated_narrow(x)
#define _mm512_maskz_cvtepi8_epi64(mask, x) emulated_longs<int8_t>(x)
#define _mm512_maskz_cvtepu8_epi64(mask, x) emulated_longs<uint8_t>(x)
#define _mm512_maskz_cvtepi16_epi64(mask, x) emulated_longs<int16_t>(x)
#define _mm512_maskz_cvtepu16_epi64(mask, x) emulated_longs<uint16_t>(x)
#define _mm512_maskz_cvtepi32_epi64(mask, x) emulated_longs<int32_t>(x)
#define _mm512_maskz_cvtepu32_epi64(mask, x) emulated_longs<uint32_t>(x)
#define _mm512_maskz_min_epu8(mask, a, b) emulated_least_bytes(a, b)
#define _mm512_sad_epu8(a, b) emulated_sums_of_differences(a, b)
#define _mm512_maskz_cvtps_ph(mask, x, rounding) emulated_cvtps_ph(x)
#define _mm512_maskz_cvtpd_ps(mask, x) emulated_cvtpd_ps(x)
#define _mm512_maskz_cvtps_pd(mask, x) emulated_cvtps_pd(x)
#define _mm512_castsi128_si512(x) emulated_insert(__m512i{}, x, 0)
#define _mm512_inserti64x2(x, two, place) emulated_insert(x, two, place)
#define _mm512_permutex2var_epi16(a, index, b) emulated_permute_words(a, index, b)
#define _mm512_madd_epi16(a, b) emulated_madd(a, b)
#define _mm512_maskz_mul_epu32(mask, a, b) emulated_mul_words(a, b)
#define _mm512_dpbusd_epi32(sum, a, b) emulated_dpbusd(sum, a, b)
#define _mm512_dpbf16_ps(sum, a, b) emulated_dpbf16(sum, a, b)
#define _mm512_set1_epi32(x) lanes_of<__m512i>(Ints16{} + (x))
#define _mm512_add_ps(a, b) ((a) + (b))
#define _mm512_mul_pd(a, b) ((a) * (b))
#define _mm512_fmadd_ps(a, b, c) each_lane<__m512, 16>([&](int i) { return __builtin_fmaf((a)[i], (b)[i], (c)[i]); })
#define _mm512_fmadd_pd(a, b, c) each_lane<__m512d, 8>([&](int i) { return __builtin_fma((a)[i], (b)[i], (c)[i]); })
#define _mm512_mask_min_ps(x, mask, a, b) ((a) < (b) ? (a) : (b))
#define _mm512_mask_min_pd(x, mask, a, b) ((a) < (b) ? (a) : (b))
#define _mm512_cmp_ps_mask(a, b, how) emulated_not_less<16>(a, b)
#define _mm512_cmp_pd_mask(a, b, how) emulated_not_less<8>(a, b)
#define _mm512_maskz_scalef_ps(mask, a, b) emulated_scalef<16>(mask, a, b)
#define _mm512_maskz_scalef_pd(mask, a, b) emulated_scalef<8>(mask, a, b)
#define _mm512_maskz_movedup_pd(mask, x) each_lane<__m512d, 8>([&](int i) { return (x)[i & ~1]; })
#define _mm512_maskz_permute_pd(mask, x, control) \
    each_lane<__m512d, 8>([&](int i) { return (x)[(i & ~1) + ((control) >> i & 1)]; })
#define _mm512_fmaddsub_pd(a, b, c)                                            \
    each_lane<__m512d, 8>([from = (a), by = (b), less = (c)](int i) {          \
        return __builtin_fma(from[i], by[i], i % 2 == 0 ? -less[i] : less[i]); \
    })
