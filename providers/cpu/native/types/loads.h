// How rows are read: storages for where a state takes in another type than blocks are staged in. Included once per
// instruction set, in an anonymous namespace.
#pragma once

template <class S>
struct Converted {
    template <class T>
    static EP_INLINE S of(T x) {
        return static_cast<S>(get(x));
    }
};
template <>
struct Converted<Complex<double>> {
    template <class T>
    static EP_INLINE Complex<double> of(Complex<T> z) {
        return {static_cast<double>(z.re), static_cast<double>(z.im)};
    }
};

struct Modulus {
    template <class T>
    static EP_INLINE double of(T z) {
        return modulus(get(z));
    }
};

// Not zero where a part is not, once the sign is masked.
struct Bits {
    static EP_INLINE uint64_t of(Complex<double> z) { return bits_of(z.re) | bits_of(z.im); }
};

template <class T, class S, class Map>
struct Loaded {
    static const void* load(const char* at, int64_t step, int64_t n, void* block) {
        Staged<T> staged[ep::BLOCK];
        const auto* const from = static_cast<const Staged<T>*>((EP_STORAGE(T))->load(at, step, n, staged));
        S* const to = static_cast<S*>(block);
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) to[i] = Map::of(from[i]);
        return block;
    }
    static constexpr ep_storage value = {sizeof(T), sizeof(S), false, load, nullptr};
};

// Elements of T as S: as they lie if that is how they are staged.
template <class T, class S>
constexpr const ep_storage* storage_as() {
    if constexpr (std::is_same_v<Staged<T>, S> || (std::is_integral_v<T> && sizeof(T) == sizeof(S)))
        return EP_STORAGE(T);
    else
        return &Loaded<T, S, Converted<S>>::value;
}

// Prefetch: rows that lie one after the other in memory are read as several streams, which processors do not predict.
template <class T>
EP_INLINE void fetch(const T* x, int64_t n) {
    const auto* const bytes = reinterpret_cast<const char*>(x);
    for (int64_t i = 0; i < n * int64_t{sizeof(T)}; i += ep::LINE) __builtin_prefetch(bytes + i);
}
