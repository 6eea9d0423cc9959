// Sums along a row in one fixed order, whatever the instruction set and the direction that vectors lie in: element i of
// a block goes to the partial sum i % SUMS, these are added by halves, and the sums of blocks pairwise. Included once
// per instruction set, in an anonymous namespace, after lanes.h.
#pragma once

template <class T>
constexpr int SUMS = 256 / int{sizeof(T)};
template <class T>
constexpr int VECTORS = SUMS<T> / Vector<T>::lanes;

// Values, or vectors of those of neighbouring rows.
template <class S>
class Pairwise {
   public:
    EP_INLINE void add(S sum) {
        for (int64_t filled = count_++; (filled & 1) != 0; filled >>= 1) sum = sums_[--depth_] + sum;
        sums_[depth_++] = sum;
    }
    EP_INLINE S total() const {
        S sum = sums_[depth_ - 1];
        for (int i = depth_ - 2; i >= 0; --i) sum = sums_[i] + sum;
        return sum;
    }

   private:
    S sums_[48];
    int depth_ = 0;
    int64_t count_ = 0;
};

// function(place, vector, count) for n elements, vector after vector: `vector` is a number below VECTORS, and `count`
// the lanes that are there.
template <class T, class Function>
EP_INLINE void each_vector(int64_t n, Function function) {
    constexpr int lanes = Vector<T>::lanes;
    int64_t i = 0;
    for (; i + SUMS<T> <= n; i += SUMS<T>)
#pragma GCC unroll 32
        for (int v = 0; v < VECTORS<T>; ++v) function(i + v * lanes, v, lanes);
    const int left = static_cast<int>(n - i);
#pragma GCC unroll 32
    for (int v = 0; v < VECTORS<T>; ++v) {
        const int count = left - v * lanes;
        if (count <= 0) break;
        function(i + v * lanes, v, count < lanes ? count : lanes);
    }
}

template <class T>
EP_INLINE V<T> load_lanes(const T* at, int count, T rest) {
    return count == Vector<T>::lanes ? load(at) : load_part(at, count, rest);
}
template <class T>
EP_INLINE void store_lanes(T* at, int count, V<T> x) {
    if (count == Vector<T>::lanes)
        store(at, x);
    else
        store_part(at, count, x);
}

template <class T, class Function>
EP_INLINE T folded_all(V<T>* vectors, Function function) {
#pragma GCC unroll 8
    for (int half = VECTORS<T> / 2; half > 0; half /= 2)
#pragma GCC unroll 16
        for (int v = 0; v < half; ++v) vectors[v] = function(vectors[v], vectors[v + half]);
    return folded<T>(vectors[0], function);
}
