// The first of the greatest elements of a row that lies as it is compared. Included once per instruction set, in an
// anonymous namespace, after isa/lanes.h and types/order.h.
#pragma once

// Contiguous elements, a block of `vectors` at least. The last block is the one that ends with them.
template <class T, int vectors>
struct Row {
    using Places = decltype(V<T>{} == V<T>{});
    using Place = std::remove_reference_t<decltype(Places{}[0])>;
    static constexpr int lanes = Vector<T>::lanes;
    static constexpr int64_t block = int64_t{vectors} * lanes;
    const T* x;
    int64_t n;
    V<Mask<T>> flip;

    // Element number i and those after it.
    EP_INLINE V<T> at(int64_t i) const {
        return reinterpret_cast<V<T>>(reinterpret_cast<V<Mask<T>>>(load(x + i)) ^ flip);
    }
    static EP_INLINE V<T> greater(V<T> a, V<T> b) { return a > b ? a : b; }
    static EP_INLINE bool has_any(Places mask) {
        return folded<int64_t>(reinterpret_cast<V<int64_t>>(mask), [](auto a, auto b) { return a | b; }) != 0;
    }

    // The greatest element, NaN if there is one.
    EP_INLINE T greatest() const {
        V<T> best[vectors];
        Places is_nan = {};
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) {
            best[v] = at(v * lanes);
            is_nan |= best[v] != best[v];
        }
        for (int64_t i = block; i < n; i += block) {
            const int64_t from = std::min(i, n - block);
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) {
                const V<T> other = at(from + v * lanes);
                is_nan |= other != other;
                best[v] = greater(other, best[v]);
            }
        }
        if constexpr (std::is_floating_point_v<T>)
            if (has_any(is_nan)) return std::numeric_limits<T>::quiet_NaN();
#pragma GCC unroll 8
        for (int v = 1; v < vectors; ++v) best[0] = greater(best[v], best[0]);
        return folded<T>(best[0], greater);
    }

    // The place of the first element that is this one, which is there.
    EP_INLINE int64_t find(T element) const {
        const bool is_nan = element != element;
        const V<T> sought = repeated(element);
        for (int64_t i = 0;; i += block) {
            const int64_t from = std::min(i, n - block);
            Places is_there[vectors], has_one = {};
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) {
                const V<T> other = at(from + v * lanes);
                is_there[v] = is_nan ? other != other : other == sought;
                has_one |= is_there[v];
            }
            if (!has_any(has_one)) continue;
            int v = 0;
            while (!has_any(is_there[v])) ++v;
            return from + v * lanes + first(is_there[v], std::make_index_sequence<size_t{lanes}>{});
        }
    }
    // The first lane of a mask that is set.
    template <size_t... lane>
    static EP_INLINE int64_t first(Places mask, std::index_sequence<lane...>) {
        const Places none = repeated(static_cast<Place>(lanes)), place = {static_cast<Place>(lane)...};
        return folded<Place>(mask ? place : none, [](auto a, auto b) { return a < b ? a : b; });
    }
};

// The place of the first of the greatest of n elements, a block at least. Elements are read once, but for those of one
// span.
template <int vectors, class T>
int64_t first_by(const T* x, int64_t n, V<Mask<T>> flip) {
    constexpr int64_t span = 2048;
    const int64_t last = std::max<int64_t>(1, n / span) - 1;
    const auto row = [&](int64_t i) { return Row<T, vectors>{x + i * span, i == last ? n - i * span : span, flip}; };
    T greatest = row(0).greatest();
    int64_t best = 0;
    for (int64_t i = 1; i <= last && greatest == greatest; ++i) {
        const T other = row(i).greatest();
        if (other <= greatest) continue;
        greatest = other;
        best = i;
    }
    return best * span + row(best).find(greatest);
}
template <class T>
int64_t first_of_greatest(const T* x, int64_t n, Mask<T> inverted) {
    constexpr int64_t lanes = Vector<T>::lanes;
    const V<Mask<T>> flip = repeated(inverted);
    if (n >= 8 * lanes) return first_by<8>(x, n, flip);
    if (n >= 2 * lanes) return first_by<2>(x, n, flip);
    if (n >= lanes) return first_by<1>(x, n, flip);
    T few[lanes];  // goes on with its first element
    std::fill(std::copy(x, x + n, few), few + lanes, *x);
    return first_by<1>(few, lanes, flip);
}
