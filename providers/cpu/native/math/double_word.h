// Numbers held as unevaluated sums of two words, for more digits than one word has. Names and formulas: Dekker 1971,
// Knuth.
#pragma once

template <class T>
struct DoubleWord {
    T high, low;
};

// a + b exactly.
template <class T>
EP_INLINE DoubleWord<T> two_sum(T a, T b) {
    const T sum = a + b, from_b = sum - a;
    return {sum, (a - (sum - from_b)) + (b - from_b)};
}
// The same for |a| >= |b|, or a = 0.
template <class T>
EP_INLINE DoubleWord<T> fast_two_sum(T a, T b) {
    const T sum = a + b;
    return {sum, b - (sum - a)};
}

// a b exactly, where nothing of it overflows or falls below the smallest denormal.
template <class T>
EP_INLINE DoubleWord<T> two_product(T a, T b) {
    using F = Float<T>;
    const T product = a * b;
    if constexpr (EP_FMA) {
        return {product, fused(a, b, -product)};
    } else {
        const T a_high = of_bits<T>(bits_of(a) & F::upper_half), a_low = a - a_high;
        const T b_high = of_bits<T>(bits_of(b) & F::upper_half), b_low = b - b_high;
        // Of 53 digits the lower part has 27: the last one is multiplied by itself, so that every product is exact.
        const T b_last = b - of_bits<T>(bits_of(b) & ~typename F::Bits{1});
        const T rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * (b_low - b_last);
        return {product, rest + a_low * b_last};
    }
}

template <class T>
EP_INLINE DoubleWord<T> operator*(DoubleWord<T> a, DoubleWord<T> b) {
    const DoubleWord<T> product = two_product(a.high, b.high);
    return {product.high, product.low + fused(a.high, b.low, a.low * b.high)};
}
