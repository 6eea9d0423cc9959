// Bodies: an op over contiguous elements. Included once per instruction set and group, in an anonymous namespace.
#pragma once

// clang-format off: each needs the ones above it
#include "isa/lanes.h"
#include "types/stored.h"
#include "types/pairs.h"
// clang-format on

// In place is exact, so no iteration depends on another: ivdep is true.
template <class Op, class S, class R>
void body1(const void* x, const void*, void* out, int64_t n, const double* attributes, int) {
    const auto p = static_cast<Attribute<S>>(attributes[0]), q = static_cast<Attribute<S>>(attributes[1]);
    const S* const from = static_cast<const S*>(x);
    R* const to = static_cast<R*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] = put<R>(Op::of(get(from[i]), p, q, attributes));
}

// bfloat16 side by side, two in a word: blocks of floats would cost a load and a store of each, twice.
template <class Op>
void body1_of_words(const void* x, const void*, void* out, int64_t n, const double* attributes, int) {
    typedef uint32_t Word __attribute__((aligned(2), may_alias));
    const auto p = static_cast<float>(attributes[0]), q = static_cast<float>(attributes[1]);
    const auto of = [&](uint32_t word) {
        return narrowed_word(put<float>(Op::of(of_bits<float>(word), p, q, attributes)));
    };
    const Word* const from = static_cast<const Word*>(x);
    Word* const to = static_cast<Word*>(out);
#pragma GCC ivdep
    for (int64_t i = 0; i < n / 2; ++i) to[i] = of(from[i] << 16) >> 16 | (of(from[i] & 0xFFFF0000U) & 0xFFFF0000U);
    if (n % 2 == 0) return;
    const auto last = uint32_t{static_cast<const BFloat16*>(x)[n - 1].bits};
    static_cast<BFloat16*>(out)[n - 1].bits = static_cast<uint16_t>(of(last << 16) >> 16);
}
template <class Op>
constexpr ep::Stored OF_WORDS = {body1_of_words<Op>, EP_STORAGE(uint16_t)};

template <class Op, class S, class R>
EP_INLINE void body2_of_both(const S* a, const S* b, R* out, int64_t n, const double* attributes) {
    const auto p = static_cast<Attribute<S>>(attributes[0]), q = static_cast<Attribute<S>>(attributes[1]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = put<R>(Op::of(get(a[i]), get(b[i]), p, q, attributes));
}

// A single operand is repeated in a block: one loop an op.
template <class Op, class S, class R>
void body2(const void* a, const void* b, void* out, int64_t n, const double* attributes, int single) {
    const S *left = static_cast<const S*>(a), *right = static_cast<const S*>(b);
    R* const to = static_cast<R*>(out);
    if (single < 0) return body2_of_both<Op>(left, right, to, n, attributes);
    S repeated[ep::BLOCK];
    for (int64_t i = 0; i < n && i < ep::BLOCK; ++i) repeated[i] = single == 0 ? *left : *right;
    for (int64_t i = 0; i < n; i += ep::BLOCK) {
        const int64_t m = n - i < ep::BLOCK ? n - i : ep::BLOCK;
        body2_of_both<Op>(single == 0 ? repeated : left + i, single == 0 ? right + i : repeated, to + i, m, attributes);
    }
}

// Ops with a short form, which is free of branches and gives the same where no element is a long one.
template <class Op, class S, class R>
void body2_short(const void* a, const void* b, void* out, int64_t n, const double* attributes, int single) {
    using V = decltype(get(S{}));
    const S *left = static_cast<const S*>(a), *right = static_cast<const S*>(b);
    R* const to = static_cast<R*>(out);
    for (int64_t i = 0; i < n; i += ep::BLOCK) {
        const int64_t m = n - i < ep::BLOCK ? n - i : ep::BLOCK;
        const S *x = left + i, *y = right + i;
        S repeated[ep::BLOCK];
        if (single >= 0) {
            for (int64_t k = 0; k < m; ++k) repeated[k] = single == 0 ? *left : *right;
            (single == 0 ? x : y) = repeated;
        }
        V longs = 0;
        for (int64_t k = 0; k < m; ++k) longs = Op::is_long(get(x[k]), get(y[k])) ? V{1} : longs;
        if (longs == 0)
            body2_of_both<typename Op::Short>(x, y, to + i, m, attributes);
        else
            body2_of_both<Op>(x, y, to + i, m, attributes);
    }
}

template <class Op, class S, class R>
void body1_short(const void* x, const void*, void* out, int64_t n, const double* attributes, int) {
    using V = decltype(get(S{}));
    const S* const from = static_cast<const S*>(x);
    R* const to = static_cast<R*>(out);
    for (int64_t i = 0; i < n; i += ep::BLOCK) {
        const int64_t m = n - i < ep::BLOCK ? n - i : ep::BLOCK;
        V longs = 0;
        for (int64_t k = 0; k < m; ++k) longs = Op::is_long(get(from[i + k])) ? V{1} : longs;
        if (longs == 0)
            body1<typename Op::Short, S, R>(from + i, nullptr, to + i, m, attributes, -1);
        else
            body1<Op, S, R>(from + i, nullptr, to + i, m, attributes, -1);
    }
}

// Light ops are bound by memory: a single operand stays in a register, in loops of its own.
template <class Op, class S, class R>
EP_HALVES void body2_light(const void* a, const void* b, void* out, int64_t n, const double* attributes, int single) {
    const S *left = static_cast<const S*>(a), *right = static_cast<const S*>(b);
    R* const to = static_cast<R*>(out);
    const auto p = static_cast<Attribute<S>>(attributes[0]), q = static_cast<Attribute<S>>(attributes[1]);
    if (single < 0) return body2_of_both<Op>(left, right, to, n, attributes);
    if (single == 0) {
        const auto x = get(*left);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) to[i] = put<R>(Op::of(x, get(right[i]), p, q, attributes));
    } else {
        const auto y = get(*right);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) to[i] = put<R>(Op::of(get(left[i]), y, p, q, attributes));
    }
}

#if EP_WIDTH > 16
// 16-bit floats side by side, in registers: blocks would cost a load and a store of each.
template <class Op, class T>
void body2_in_pairs(const void* a, const void* b, void* out, int64_t n, const double* attributes, int single) {
    constexpr int64_t elements = Pair::elements;
    const T *left = static_cast<const T*>(a), *right = static_cast<const T*>(b);
    T* const to = static_cast<T*>(out);
    Pair number = {};
    if (single >= 0) number.first = number.second = repeated(*static_cast<const float*>(single == 0 ? a : b));
    const auto apply = [&](const T* x, const T* y, T* result) {
        const Pair p = single == 0 ? number : load_pair(x), q = single == 1 ? number : load_pair(y);
        const auto of = [&](V<float> u, V<float> v) { return Op::of(u, v, 0.0F, 0.0F, attributes); };
        store_pair(result, {of(p.first, q.first), of(p.second, q.second)});
    };
    int64_t i = 0;
#pragma GCC unroll 2
    for (; i + elements <= n; i += elements) apply(left + i, right + i, to + i);
    if (i == n) return;
    T x[elements] = {}, y[elements] = {}, last[elements];
    const auto nbytes = static_cast<size_t>(n - i) * sizeof(T);
    if (single != 0) std::memcpy(x, left + i, nbytes);
    if (single != 1) std::memcpy(y, right + i, nbytes);
    apply(x, y, last);
    std::memcpy(to + i, last, nbytes);
}
template <class Op, class T>
constexpr ep::Stored IN_PAIRS = {body2_in_pairs<Op, T>, EP_STORAGE(uint16_t)};
#endif

// The code of a row of an op that takes vectors as it takes elements.
template <class Op, class T>
constexpr const ep::Stored* stored_code() {
#if EP_WIDTH > 16
    if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Half>) return &IN_PAIRS<Op, T>;
#endif
    return nullptr;
}

#if EP_WIDTH > 16
// x y of complex numbers, real and imaginary parts in turn, with the bits of operator*.
EP_INLINE V<double> complex_product(V<double> x, V<double> y) {
#if EP_WIDTH == 64
    const __m512d turned = _mm512_maskz_permute_pd(0xFF, y, 0x55), imaginary = _mm512_maskz_permute_pd(0xFF, x, 0xFF);
    return _mm512_fmaddsub_pd(_mm512_maskz_movedup_pd(0xFF, x), y, _mm512_mul_pd(imaginary, turned));
#else
    const __m256d turned = _mm256_permute_pd(y, 0x5), imaginary = _mm256_permute_pd(x, 0xF);
    return _mm256_fmaddsub_pd(_mm256_movedup_pd(x), y, _mm256_mul_pd(imaginary, turned));
#endif
}
EP_INLINE void store_narrow(float* at, V<double> x) {
#if EP_WIDTH == 64
    _mm256_storeu_ps(at, _mm512_maskz_cvtpd_ps(0xFF, x));
#else
    _mm_storeu_ps(at, _mm256_cvtpd_ps(x));
#endif
}
#endif

// Products, of which the compiler takes the parts of complex64 apart.
template <class Op, class S>
void body2_product(const void* a, const void* b, void* out, int64_t n, const double* attributes, int single) {
    int64_t i = 0;
#if EP_WIDTH > 16
    if (std::is_same_v<S, Complex<float>> && single < 0) {
        constexpr int64_t lanes = Vector<double>::lanes;
        const auto *x = static_cast<const float*>(a), *y = static_cast<const float*>(b);
        auto* const to = static_cast<float*>(out);
        for (; i + lanes / 2 <= n; i += lanes / 2)
            store_narrow(to + 2 * i, complex_product(load_stored<double>(x + 2 * i), load_stored<double>(y + 2 * i)));
    }
#endif
    const auto rest = [i](const void* operand) { return static_cast<const S*>(operand) + i; };
    body2_light<Op, S, S>(rest(a), rest(b), static_cast<S*>(out) + i, n - i, attributes, single);
}
