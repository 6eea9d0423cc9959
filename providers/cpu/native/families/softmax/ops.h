// The four softmaxes of one element, in a lane or in a vector of them. Included once per instruction set, in an
// anonymous namespace, after exponentials.h, logarithm.h and sums.h.
#pragma once

// The measure of a chunk of a row, or of neighbouring rows in lanes. Forward: its maximum and the sum of
// e^(x - maximum). Backward: a sum. Later: the numbers that finish the elements.
template <class S>
struct Measure {
    S base, sum;
};

struct Sum {
    template <class S>
    EP_INLINE S operator()(S a, S b) const {
        return a + b;
    }
};
template <class T>
struct Forward {
    static constexpr int inputs = 1;
    static constexpr bool is_relative = true, is_measured = false;

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
    static constexpr bool keeps = false, is_measured = true;

    static EP_INLINE Measure<T> finished(Measure<T>, Measure<T> total) { return {total.base, logarithm(total.sum)}; }
    static EP_INLINE Measure<V<T>> finished(Measure<V<T>>, Measure<V<T>> total) {
        return {total.base, lanewise<T>(total.sum, [](T sum) { return logarithm(sum); })};
    }
    static EP_INLINE V<T> made(const V<T>* in, V<T> base, V<T> log) { return (in[0] - base) - log; }
};

template <class T>
struct Backward {
    static constexpr int inputs = 2;
    static constexpr bool is_relative = false, keeps = false, is_measured = false;

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
