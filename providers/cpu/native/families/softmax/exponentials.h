// Exponentials of vectors, and from where those of a row are measured. Included once per instruction set, in an
// anonymous namespace, after lanes.h.
#pragma once

template <class T>
constexpr T NONE = -std::numeric_limits<T>::infinity();

// The second where one of them is NaN.
struct Larger {
    template <class S>
    EP_INLINE S operator()(S a, S b) const {
        return a > b ? a : b;
    }
};

template <class T>
EP_INLINE T falling(T x) {
    return exponential_falling(x);
}
#if EP_WIDTH == 64
// The same value with fewer instructions: the scaling is one, and so is the comparison, which a NaN passes. A mask of
// all lanes, because GCC 12 warns of the forms without one.
EP_INLINE V<float> smaller_of(V<float> high, V<float> x) {
    return _mm512_mask_min_ps(x, 0xFFFF, high, x);
}
EP_INLINE V<double> smaller_of(V<double> high, V<double> x) {
    return _mm512_mask_min_pd(x, 0xFF, high, x);
}
// x 2^exponent, and 0 where e^given rounds to it: Sapphire Rapids takes some hundred cycles for a scaling that
// underflows, and nothing for one of a lane that is masked out.
EP_INLINE V<float> scaled(V<float> x, V<float> exponent, V<float> given) {
    constexpr float least = -104;
    return _mm512_maskz_scalef_ps(_mm512_cmp_ps_mask(given, repeated(least), _CMP_NLT_UQ), x, exponent);
}
EP_INLINE V<double> scaled(V<double> x, V<double> exponent, V<double> given) {
    constexpr double least = -746;
    return _mm512_maskz_scalef_pd(_mm512_cmp_pd_mask(given, repeated(least), _CMP_NLT_UQ), x, exponent);
}
template <class T>
EP_INLINE V<T> scaled_exponential(V<T> r, V<T> n, V<T> given) {
    const V<T> tail = lanewise<T>(r, [](T lane) { return Exponential<T>::tail(lane); });
    return scaled(T{1} + multiply_add<T>(r * r, tail, r), n, given);
}
template <class T>
EP_INLINE V<T> falling(V<T> x) {
    using F = Float<T>;
    const V<T> shift = repeated(F::integer_magic), inverse = repeated(static_cast<T>(1.4426950408889634));
    const V<T> n = multiply_add<T>(x, inverse, shift) - shift;
    return scaled_exponential<T>(
        multiply_add<T>(-n, repeated(F::ln2_low), multiply_add<T>(-n, repeated(F::ln2_high), x)), n, x);
}
template <class T>
EP_INLINE V<T> exponential(V<T> x) {
    using F = Float<T>;
    const V<T> shift = repeated(F::integer_magic), inverse = repeated(static_cast<T>(1.4426950408889634));
    x = smaller_of(repeated(Exponential<T>::high), x);
    const V<T> n = (x * inverse + shift) - shift;
    return scaled_exponential<T>(multiply_add<T>(-n, repeated(F::ln2_high), x) - n * repeated(F::ln2_low), n, x);
}
#else
template <class T>
EP_INLINE V<T> exponential(V<T> x) {
    return lanewise<T>(x, [](T lane) { return exponential(lane); });
}
template <class T>
EP_INLINE V<T> falling(V<T> x) {
    return lanewise<T>(x, [](T lane) EP_LAMBDA { return exponential_falling(lane); });
}
#endif

// A maximum of -inf is no place to measure from: e^(-inf - lowest) is 0.
template <class T>
EP_INLINE T origin(T largest) {
    return at_least(largest, std::numeric_limits<T>::lowest());
}
template <class T>
EP_INLINE V<T> origin(V<T> largest) {
    return Larger{}(repeated(std::numeric_limits<T>::lowest()), largest);
}
