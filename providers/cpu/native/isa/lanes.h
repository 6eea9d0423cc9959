// Vectors of the instruction set as values: they stay in registers where loops over arrays would not.
// Included once per instruction set, in an anonymous namespace.
#pragma once

template <class T>
struct Vector {
    typedef T type __attribute__((vector_size(EP_WIDTH)));
    typedef T unaligned __attribute__((vector_size(EP_WIDTH), aligned(alignof(T)), may_alias));
    static constexpr int lanes = EP_WIDTH / int{sizeof(T)};
};
template <class T>
using V = typename Vector<T>::type;

template <class T, size_t... lane>
EP_INLINE V<T> repeated(T x, std::index_sequence<lane...>) {
    return V<T>{(static_cast<void>(lane), x)...};
}
template <class T>
EP_INLINE V<T> repeated(T x) {
    return repeated(x, std::make_index_sequence<Vector<T>::lanes>{});
}

template <class T>
EP_INLINE V<T> load(const T* at) {
    return *reinterpret_cast<const typename Vector<T>::unaligned*>(at);
}
template <class T>
EP_INLINE void store(T* at, V<T> x) {
    *reinterpret_cast<typename Vector<T>::unaligned*>(at) = x;
}

template <class T>
EP_INLINE V<T> multiply_add(V<T> a, V<T> b, V<T> c) {
#if EP_FMA && EP_WIDTH == 64
    if constexpr (std::is_same_v<T, float>) return _mm512_fmadd_ps(a, b, c);
    if constexpr (std::is_same_v<T, double>) return _mm512_fmadd_pd(a, b, c);
#elif EP_FMA
    if constexpr (std::is_same_v<T, float>) return _mm256_fmadd_ps(a, b, c);
    if constexpr (std::is_same_v<T, double>) return _mm256_fmadd_pd(a, b, c);
#endif
    return a * b + c;
}

#if EP_WIDTH == 32
alignas(64) constexpr int32_t FIRST[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

// All bits of the first `count` lanes.
template <class T>
EP_INLINE __m256i first_lanes(int count) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(FIRST + 8 - count * int{sizeof(T)} / 4));
}
#endif

// The first `count` lanes from memory, which ends there; the others are `rest`.
template <class T>
EP_INLINE V<T> load_part(const T* at, int count, T rest) {
#if EP_WIDTH == 64
    if constexpr (std::is_same_v<T, float>)
        return _mm512_mask_loadu_ps(repeated(rest), static_cast<__mmask16>((1U << count) - 1), at);
    if constexpr (std::is_same_v<T, double>)
        return _mm512_mask_loadu_pd(repeated(rest), static_cast<__mmask8>((1U << count) - 1), at);
#elif EP_WIDTH == 32
    const __m256i mask = first_lanes<T>(count);
    if constexpr (std::is_same_v<T, float>)
        return _mm256_blendv_ps(repeated(rest), _mm256_maskload_ps(at, mask), _mm256_castsi256_ps(mask));
    if constexpr (std::is_same_v<T, double>)
        return _mm256_blendv_pd(repeated(rest), _mm256_maskload_pd(at, mask), _mm256_castsi256_pd(mask));
#endif
    alignas(EP_WIDTH) T lanes[Vector<T>::lanes];
    for (int i = 0; i < Vector<T>::lanes; ++i) lanes[i] = i < count ? at[i] : rest;
    return load(lanes);
}
template <class T>
EP_INLINE void store_part(T* at, int count, V<T> x) {
#if EP_WIDTH == 64
    if constexpr (std::is_same_v<T, float>)
        return _mm512_mask_storeu_ps(at, static_cast<__mmask16>((1U << count) - 1), x);
    if constexpr (std::is_same_v<T, double>)
        return _mm512_mask_storeu_pd(at, static_cast<__mmask8>((1U << count) - 1), x);
#elif EP_WIDTH == 32
    if constexpr (std::is_same_v<T, float>) return _mm256_maskstore_ps(at, first_lanes<T>(count), x);
    if constexpr (std::is_same_v<T, double>) return _mm256_maskstore_pd(at, first_lanes<T>(count), x);
#endif
    alignas(EP_WIDTH) T lanes[Vector<T>::lanes];
    store(lanes, x);
    for (int i = 0; i < count; ++i) at[i] = lanes[i];
}

// A function of one element, made for loops, of every lane.
template <class T, class Function>
EP_INLINE V<T> lanewise(V<T> x, Function function) {
    alignas(EP_WIDTH) T in[Vector<T>::lanes], out[Vector<T>::lanes];
    store(in, x);
#pragma GCC ivdep
    for (int i = 0; i < Vector<T>::lanes; ++i) out[i] = function(in[i]);
    return load(out);
}

// Lanes exchanged with those `distance` away, around the end.
template <class T, size_t... lane>
EP_INLINE V<T> turned(V<T> x, int distance, std::index_sequence<lane...>) {
    using Places = decltype(x == x);
    using Index = std::remove_reference_t<decltype(Places{}[0])>;
    return __builtin_shuffle(x, Places{static_cast<Index>((lane + distance) % sizeof...(lane))...});
}
// The lanes of a vector joined by a commutative function: by halves, quarters, and so on.
template <class T, class Function>
EP_INLINE T folded(V<T> x, Function function) {
#pragma GCC unroll 8
    for (int distance = Vector<T>::lanes / 2; distance > 0; distance /= 2)
        x = function(x, turned<T>(x, distance, std::make_index_sequence<Vector<T>::lanes>{}));
    return x[0];
}
