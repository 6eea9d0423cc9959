// Sums along a row in one fixed order, whatever the instruction set and the direction that vectors lie in: element i of
// a block goes to the partial sum i % SUMS, these are added by halves, and the sums of blocks pairwise. Included once
// per instruction set, in an anonymous namespace, after lanes.h.
#pragma once

template <class T>
constexpr int SUMS = 256 / int{sizeof(T)};
template <class T>
constexpr int VECTORS = SUMS<T> / Vector<T>::lanes;

// Values, or vectors of values of neighbouring rows.
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
    if (n <= lanes) return function(0, 0, static_cast<int>(n));
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

// The sums of vectors, or their largest, in lanes of one. Lanes after n elements must not change a result.
template <class T, int HALF = VECTORS<T> / 2, class Function>
EP_INLINE V<T> merged(V<T>* vectors, int64_t n, Function function) {
    if (n > HALF * Vector<T>::lanes)
#pragma GCC unroll 16
        for (int v = 0; v < HALF; ++v) vectors[v] = function(vectors[v], vectors[v + HALF]);
    if constexpr (HALF > 1) return merged<T, HALF / 2>(vectors, n, function);
    return vectors[0];
}

// The operands and the sum of one step of `folded`, for two vectors: lanes l of a and l - distance of b where
// `distance` is a bit of l, and l + distance of a and l of b.
template <int distance, class T, class Function, size_t... lane>
EP_INLINE V<T> folded_pair(V<T> a, V<T> b, Function function, std::index_sequence<lane...>) {
    using Index = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    typedef Index Places __attribute__((vector_size(EP_WIDTH)));
    constexpr size_t step = distance, other = sizeof...(lane) - step;
    const V<T> low = __builtin_shuffle(a, b, Places{static_cast<Index>((lane & step) != 0 ? lane + other : lane)...});
    const V<T> high =
        __builtin_shuffle(a, b, Places{static_cast<Index>(lane + ((lane & step) != 0 ? other + step : step))...});
    return function(low, high);
}
// Lane r of the result is `folded` of vector r; as many vectors as lanes, for about the work of folding two.
template <int distance, class T, class Function>
EP_INLINE V<T> folded_each(V<T>* vectors, Function function) {
#pragma GCC unroll 8
    for (int v = 0; v < distance; ++v)
        vectors[v] = folded_pair<distance, T>(vectors[v], vectors[v + distance], function,
                                              std::make_index_sequence<Vector<T>::lanes>{});
    if constexpr (distance > 1) return folded_each<distance / 2, T>(vectors, function);
    return vectors[0];
}
