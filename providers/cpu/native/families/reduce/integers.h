// Whole numbers, which give the same bits in any order: sums in eight bytes, which wrap, and the greatest. Included
// once per instruction set, in an anonymous namespace, after types/stored.h and joints.h.
#pragma once

// Whole numbers as ones of eight bytes, in which they are summed: `extended` by sign or by zeros.
#if EP_WIDTH == 64
EP_INLINE __m128i packed(const void* at, std::integral_constant<size_t, 1>) {
    return _mm_loadl_epi64(static_cast<const __m128i*>(at));
}
EP_INLINE __m128i packed(const void* at, std::integral_constant<size_t, 2>) {
    return _mm_loadu_si128(static_cast<const __m128i*>(at));
}
EP_INLINE __m256i packed(const void* at, std::integral_constant<size_t, 4>) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}
#define EP_WIDENED(x, extended) _mm512_maskz_##extended##_epi64(0xFF, x)
#elif EP_WIDTH == 32
EP_INLINE __m128i packed(const void* at, std::integral_constant<size_t, 1>) {
    int32_t bytes;
    std::memcpy(&bytes, at, sizeof(bytes));
    return _mm_cvtsi32_si128(bytes);
}
EP_INLINE __m128i packed(const void* at, std::integral_constant<size_t, 2>) {
    return _mm_loadl_epi64(static_cast<const __m128i*>(at));
}
EP_INLINE __m128i packed(const void* at, std::integral_constant<size_t, 4>) {
    return _mm_loadu_si128(static_cast<const __m128i*>(at));
}
#define EP_WIDENED(x, extended) _mm256_##extended##_epi64(x)
#endif
#if EP_WIDTH > 16
#define EP_LOAD_WIDENED(T, extended)                                                  \
    template <>                                                                       \
    EP_INLINE V<uint64_t> load_stored<uint64_t>(const T* at) {                        \
        const auto numbers = packed(at, std::integral_constant<size_t, sizeof(T)>{}); \
        return reinterpret_cast<V<uint64_t>>(EP_WIDENED(numbers, extended));          \
    }
EP_LOAD_WIDENED(int8_t, cvtepi8)
EP_LOAD_WIDENED(uint8_t, cvtepu8)
EP_LOAD_WIDENED(int16_t, cvtepi16)
EP_LOAD_WIDENED(uint16_t, cvtepu16)
EP_LOAD_WIDENED(int32_t, cvtepi32)
EP_LOAD_WIDENED(uint32_t, cvtepu32)
// Any byte but 0 is true.
template <>
EP_INLINE V<uint64_t> load_stored<uint64_t>(const Boolean* at) {
    const __m128i bytes = packed(at, std::integral_constant<size_t, 1>{});
    return reinterpret_cast<V<uint64_t>>(EP_WIDENED(_mm_min_epu8(bytes, _mm_set1_epi8(1)), cvtepu8));
}
#endif

// States from n contiguous bytes of each of `count` rows, `apart` bytes from one another.
template <class T>
void fold_bytes(void* states, const char* at, int64_t apart, int64_t count, int64_t n, const ep::Lens&, bool);
template <class T>
constexpr bool is_byte = sizeof(T) == 1 && (std::is_integral_v<T> || std::is_same_v<T, Boolean>);

#if EP_WIDTH == 64
using Bytes = __m512i;
EP_INLINE Bytes least_byte(Bytes a, Bytes b) {
    return _mm512_maskz_min_epu8(~__mmask64{}, a, b);
}
EP_INLINE V<uint64_t> sums_of_eight(Bytes x) {
    return reinterpret_cast<V<uint64_t>>(_mm512_sad_epu8(x, Bytes{}));
}
#elif EP_WIDTH == 32
using Bytes = __m256i;
EP_INLINE Bytes least_byte(Bytes a, Bytes b) {
    return _mm256_min_epu8(a, b);
}
EP_INLINE V<uint64_t> sums_of_eight(Bytes x) {
    return reinterpret_cast<V<uint64_t>>(_mm256_sad_epu8(x, Bytes{}));
}
#endif

#if EP_WIDTH > 16
// The sum of n contiguous bytes: eight at a time, signed ones 128 too large, which is taken back.
template <class T>
EP_INLINE uint64_t sum_of_bytes(const char* at, int64_t n) {
    constexpr int64_t width = EP_WIDTH, abreast = 4;
    constexpr bool is_signed = std::is_same_v<T, int8_t>;
    const V<uint8_t> turn = repeated(static_cast<uint8_t>(is_signed ? 0x80 : 0)), one = repeated(uint8_t{1});
    V<uint64_t> sum[abreast] = {};
    const auto take = [&](V<uint64_t>& into, const char* from) {
        auto bytes = reinterpret_cast<Bytes>(load(reinterpret_cast<const uint8_t*>(from)) ^ turn);
        if constexpr (std::is_same_v<T, Boolean>) bytes = least_byte(bytes, reinterpret_cast<Bytes>(one));
        into += sums_of_eight(bytes);
    };
    int64_t i = 0;
    for (; i + abreast * width <= n; i += abreast * width)
#pragma GCC unroll 4
        for (int64_t v = 0; v < abreast; ++v) take(sum[v], at + i + v * width);
    for (; i + width <= n; i += width) take(sum[0], at + i);
    const auto add = [](auto a, auto b) { return a + b; };
    uint64_t all = folded<uint64_t>((sum[0] + sum[1]) + (sum[2] + sum[3]), add);
    if (is_signed) all -= static_cast<uint64_t>(i) * 128;
    for (const T* x = reinterpret_cast<const T*>(at); i < n; ++i) all += static_cast<uint64_t>(get(x[i]));
    return all;
}
template <class T>
void fold_bytes(void* states, const char* at, int64_t apart, int64_t count, int64_t n, const ep::Lens&, bool) {
    auto* const to = static_cast<uint64_t*>(states);
    for (int64_t i = 0; i < count; ++i, at += apart) to[i] = sum_of_bytes<T>(at, n);
}
#endif

// Whether Op is the greatest of elements that are stored as T and compared by their bits.
template <class Op, class T>
constexpr bool is_greatest = false;
template <class S, class T>
constexpr bool is_greatest<Greatest<S>, T> = EP_WIDTH > 16 && sizeof(S) == sizeof(T);
template <class S, class T>
constexpr bool is_greatest<Greatest<S>, Complex<T>> = false;

// The greatest of n contiguous elements. The last vectors are those that end with them.
template <class S>
EP_INLINE S greatest_of(const S* x, int64_t n, typename Greatest<S>::View view) {
    constexpr int64_t lanes = Vector<S>::lanes, abreast = 4, block = abreast * lanes;
    const V<S> keep = repeated(view.keep), flip = repeated(view.flip);
    const auto join = [](auto a, auto b) { return a > b ? a : b; };
    S best = Greatest<S>::nothing();
    if (n < lanes) {
        for (int64_t i = 0; i < n; ++i) best = join(best, Greatest<S>::of(x[i], view));
        return best;
    }
    V<S> most[abreast];
    for (V<S>& each : most) each = repeated(best);
    int64_t i = 0;
    for (; i + block <= n; i += block)
#pragma GCC unroll 4
        for (int64_t v = 0; v < abreast; ++v) most[v] = join(most[v], (load(x + i + v * lanes) & keep) ^ flip);
    for (; i < n; i += lanes) most[0] = join(most[0], (load(x + std::min(i, n - lanes)) & keep) ^ flip);
    return folded<S>(join(join(most[0], most[1]), join(most[2], most[3])), join);
}
template <class S>
void fold_greatest(void* states, const char* at, int64_t apart, int64_t count, int64_t n, const ep::Lens& lens, bool) {
    auto* const to = static_cast<S*>(states);
    const auto view = Greatest<S>::view(lens);
    for (int64_t i = 0; i < count; ++i, at += apart) to[i] = greatest_of(reinterpret_cast<const S*>(at), n, view);
}
