// The four softmaxes of one element, in a lane or in a vector of them. Included once per instruction set, in an
// anonymous namespace, after lanes.h and logarithm.h.
#pragma once

// The measure of a chunk of a row, or of neighbouring rows in lanes. Forward: its maximum and the sum of
// e^(x - maximum). Backward: a sum. Later: the numbers that finish the elements.
template <class S>
struct Measure {
    S base, sum;
};

template <class T>
constexpr T NONE = -std::numeric_limits<T>::infinity();

struct Sum {
    template <class S>
    EP_INLINE S operator()(S a, S b) const {
        return a + b;
    }
};
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
// The same value with fewer instructions: the scaling is one, and so is the comparison, which a NaN passes. Masks of
// all lanes, because GCC 12 warns of the forms without them.
EP_INLINE V<float> larger_of(V<float> low, V<float> x) {
    return _mm512_mask_max_ps(x, 0xFFFF, low, x);
}
EP_INLINE V<double> larger_of(V<double> low, V<double> x) {
    return _mm512_mask_max_pd(x, 0xFF, low, x);
}
EP_INLINE V<float> smaller_of(V<float> high, V<float> x) {
    return _mm512_mask_min_ps(x, 0xFFFF, high, x);
}
EP_INLINE V<double> smaller_of(V<double> high, V<double> x) {
    return _mm512_mask_min_pd(x, 0xFF, high, x);
}
EP_INLINE V<float> scaled(V<float> x, V<float> exponent) {
    return _mm512_mask_scalef_ps(x, 0xFFFF, x, exponent);
}
EP_INLINE V<double> scaled(V<double> x, V<double> exponent) {
    return _mm512_mask_scalef_pd(x, 0xFF, x, exponent);
}
template <class T>
EP_INLINE V<T> scaled_exponential(V<T> r, V<T> n) {
    const V<T> tail = lanewise<T>(r, [](T lane) { return Exponential<T>::tail(lane); });
    return scaled(T{1} + multiply_add<T>(r * r, tail, r), n);
}
template <class T>
EP_INLINE V<T> falling(V<T> x) {
    using F = Float<T>;
    const V<T> shift = repeated(F::integer_magic), inverse = repeated(static_cast<T>(1.4426950408889634));
    x = larger_of(repeated(Exponential<T>::low), x);
    const V<T> n = multiply_add<T>(x, inverse, shift) - shift;
    return scaled_exponential<T>(
        multiply_add<T>(-n, repeated(F::ln2_low), multiply_add<T>(-n, repeated(F::ln2_high), x)), n);
}
template <class T>
EP_INLINE V<T> exponential(V<T> x) {
    using F = Float<T>;
    const V<T> shift = repeated(F::integer_magic), inverse = repeated(static_cast<T>(1.4426950408889634));
    x = smaller_of(repeated(Exponential<T>::high), larger_of(repeated(Exponential<T>::low), x));
    const V<T> n = (x * inverse + shift) - shift;
    return scaled_exponential<T>(multiply_add<T>(-n, repeated(F::ln2_high), x) - n * repeated(F::ln2_low), n);
}
#else
template <class T>
EP_INLINE V<T> exponential(V<T> x) {
    return lanewise<T>(x, [](T lane) { return exponential(lane); });
}
template <class T>
EP_INLINE V<T> falling(V<T> x) {
    return lanewise<T>(x, [](T lane) { return exponential_falling(lane); });
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

template <class T>
struct Forward {
    static constexpr int inputs = 1;
    static constexpr bool is_relative = true;

    // `sum` plus one element's term, e^(x - base), which is also returned in `term`.
    static EP_INLINE V<T> added(const V<T>* in, V<T> base, V<T> sum, V<T>& term) {
        term = falling<T>(in[0] - base);
        return sum + term;
    }
    // Of a row from its chunks, which are `step` apart.
    template <class S>
    static EP_INLINE Measure<S> total(const Measure<S>* chunks, int64_t count, int64_t step) {
        S most = chunks[0].base;
        if (count == 1) return chunks[0];
        for (int64_t c = 1; c < count; ++c) most = Larger{}(chunks[c * step].base, most);
        Pairwise<S> sums;
        for (int64_t c = 0; c < count; ++c)
            sums.add(chunks[c * step].sum * falling<T>(S(chunks[c * step].base - most)));
        return {most, sums.total()};
    }
};

template <class T>
struct Softmax : Forward<T> {
    static constexpr bool keeps = true;

    template <class S>
    static EP_INLINE Measure<S> finished(Measure<S> chunk, Measure<S> total) {
        return {origin<T>(chunk.base), falling<T>(S(chunk.base - total.base)) / total.sum};
    }
    static EP_INLINE V<T> made(const V<T>* in, V<T> base, V<T> factor) { return falling<T>(in[0] - base) * factor; }
};

template <class T>
struct LogSoftmax : Forward<T> {
    static constexpr bool keeps = false;

    static EP_INLINE Measure<T> finished(Measure<T>, Measure<T> total) { return {total.base, logarithm(total.sum)}; }
    static EP_INLINE Measure<V<T>> finished(Measure<V<T>>, Measure<V<T>> total) {
        return {total.base, lanewise<T>(total.sum, [](T sum) { return logarithm(sum); })};
    }
    static EP_INLINE V<T> made(const V<T>* in, V<T> base, V<T> log) { return (in[0] - base) - log; }
};

template <class T>
struct Backward {
    static constexpr int inputs = 2;
    static constexpr bool is_relative = false, keeps = false;

    template <class S>
    static EP_INLINE Measure<S> total(const Measure<S>* chunks, int64_t count, int64_t step) {
        Pairwise<S> sums;
        for (int64_t c = 0; c < count; ++c) sums.add(chunks[c * step].sum);
        return {chunks[0].base, sums.total()};
    }
    template <class S>
    static EP_INLINE Measure<S> finished(Measure<S>, Measure<S> total) {
        return total;
    }
};

template <class T>
struct SoftmaxBackward : Backward<T> {
    static EP_INLINE V<T> added(const V<T>* in, V<T>, V<T> sum, V<T>&) { return multiply_add<T>(in[0], in[1], sum); }
    static EP_INLINE V<T> made(const V<T>* in, V<T>, V<T> sum) { return in[1] * (in[0] - sum); }
};

template <class T>
struct LogSoftmaxBackward : Backward<T> {
    static EP_INLINE V<T> added(const V<T>* in, V<T>, V<T> sum, V<T>&) { return sum + in[0]; }
    static EP_INLINE V<T> made(const V<T>* in, V<T>, V<T> sum) { return in[0] - exponential<T>(in[1]) * sum; }
};
