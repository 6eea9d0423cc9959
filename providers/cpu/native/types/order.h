// Elements as masks and inversions of their bits turn every order into one. Included once per instruction set, in an
// anonymous namespace.
#pragma once

template <class T>
EP_INLINE T masked(T x, T keep, T flip) {
    return static_cast<T>((x & keep) ^ flip);
}
EP_INLINE float masked(float x, uint32_t keep, uint32_t flip) {
    return of_bits<float>((bits_of(x) & keep) ^ flip);
}
EP_INLINE double masked(double x, uint64_t keep, uint64_t flip) {
    return of_bits<double>((bits_of(x) & keep) ^ flip);
}
template <class T>
struct MaskOf {
    using type = T;
};
template <>
struct MaskOf<float> {
    using type = uint32_t;
};
template <>
struct MaskOf<double> {
    using type = uint64_t;
};
template <class T>
using Mask = typename MaskOf<T>::type;

// A float as an integer of its order: -inf is the lowest one, and all NaNs are above +inf.
template <class T>
struct KeyOf {
    using Bits = typename Float<T>::Bits;
    using Key = std::make_signed_t<Bits>;
    static constexpr Bits top = Bits{1} << (8 * sizeof(T) - 1),
                          infinite = Bits{2 * Float<T>::bias + 1} << Float<T>::fraction;
    // From where -inf would come to lie.
    static constexpr Bits shift = top - (infinite ^ (top - 1) ^ top);

    static EP_INLINE Bits turned(Bits bits) {
        return bits ^ (static_cast<Bits>(static_cast<Key>(bits) >> (8 * sizeof(T) - 1)) & (top - 1));
    }
    static EP_INLINE Key of(T x) { return static_cast<Key>(turned(bits_of(x)) + shift); }
    static EP_INLINE T value(Key key) { return of_bits<T>(turned(static_cast<Bits>(key) - shift)); }
};

template <class T>
constexpr bool is_real_float = std::is_floating_point_v<Staged<T>>;
constexpr uint64_t EVERY = ~uint64_t{0};
template <class S>
constexpr uint64_t TOP = uint64_t{1} << (8 * sizeof(S) - 1);

template <int64_t bytes>
using WordOf =
    std::conditional_t<bytes == 1, int8_t,
                       std::conditional_t<bytes == 2, int16_t, std::conditional_t<bytes == 4, int32_t, int64_t>>>;

// The type by which elements are compared: a signed number. `up` is inverted for the order of T, `down` for the
// reverse.
template <class T, bool is_float = is_real_float<T>>
struct OrderOf {
    using type = std::make_signed_t<T>;
    static constexpr uint64_t up = std::is_signed_v<T> ? 0 : TOP<T>, down = ~up;
};
template <class T>
struct OrderOf<T, true> {
    using type = Staged<T>;
    static constexpr uint64_t up = 0, down = TOP<type>;
};
// 0 or 1
template <>
struct OrderOf<Boolean, false> {
    using type = int8_t;
    static constexpr uint64_t up = 0, down = ~up;
};
