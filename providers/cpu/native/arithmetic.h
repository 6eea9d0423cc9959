// Element types, and the operations whose meaning depends on the type. Included once per instruction set.

struct Boolean {
    uint8_t byte;
};

using T_bool = Boolean;
using T_int32 = int32_t;
using T_float16 = Half;
using T_float32 = float;
using T_float64 = double;

// What a loop reads and writes between the operands and an op: float16 goes through float blocks.
template <class T>
struct StagedAs {
    using type = T;
};
template <>
struct StagedAs<Half> {
    using type = float;
};
template <class T>
using Staged = typename StagedAs<T>::type;

template <class T>
EP_INLINE T get(T x) {
    return x;
}
EP_INLINE bool get(Boolean x) {
    return x.byte != 0;
}
template <class R, class V>
EP_INLINE R put(V value) {
    if constexpr (std::is_same_v<R, Boolean>) {
        return {static_cast<uint8_t>(value)};
    } else {
        return value;
    }
}

// Integers wrap modulo 2^32.
EP_INLINE int32_t wrapped(uint32_t x) {
    return static_cast<int32_t>(x);
}
EP_INLINE uint32_t raw(int32_t x) {
    return static_cast<uint32_t>(x);
}

template <class T>
EP_INLINE T absolute(T x) {
    return absolute_of(x);
}
EP_INLINE int32_t absolute(int32_t x) {
    return x < 0 ? wrapped(0U - raw(x)) : x;
}

template <class T>
EP_INLINE T negated(T x) {
    return -x;
}
EP_INLINE int32_t negated(int32_t x) {
    return wrapped(0U - raw(x));
}

template <class T>
EP_INLINE T inverted(T x) {
    return ~x;
}
EP_INLINE bool inverted(bool x) {
    return !x;
}

template <class T>
EP_INLINE T common_bits(T a, T b) {
    return a & b;
}

template <class T>
EP_INLINE T sum(T a, T b) {
    return a + b;
}
EP_INLINE int32_t sum(int32_t a, int32_t b) {
    return wrapped(raw(a) + raw(b));
}
EP_INLINE bool sum(bool a, bool b) {
    return a | b;
}

template <class T>
EP_INLINE T difference(T a, T b) {
    return a - b;
}
EP_INLINE int32_t difference(int32_t a, int32_t b) {
    return wrapped(raw(a) - raw(b));
}

template <class T>
EP_INLINE T product(T a, T b) {
    return a * b;
}
EP_INLINE int32_t product(int32_t a, int32_t b) {
    return wrapped(raw(a) * raw(b));
}
EP_INLINE bool product(bool a, bool b) {
    return a & b;
}

template <class T>
EP_INLINE T quotient(T a, T b) {
    return a / b;
}
// x / 0 = 0 and MIN / -1 = MIN. No vector unit divides integers, and the double quotient of two 32-bit integers is far
// enough from the next integer to truncate right.
EP_INLINE int32_t quotient(int32_t a, int32_t b) {
    const bool is_ordinary = (b != 0) & (b != -1);
    const int32_t whole = static_cast<int32_t>(static_cast<double>(a) / static_cast<double>(is_ordinary ? b : 1));
    const int32_t other = b == 0 ? 0 : negated(a);
    return is_ordinary ? whole : other;
}

// NaN wins from either side; +0 is above -0.
template <class T>
EP_INLINE T larger(T a, T b) {
    const T ordered = a > b ? a : b;
    const T settled = a == b ? of_bits<T>(bits_of(a) & bits_of(b)) : ordered;
    return a != a ? a : settled;
}
EP_INLINE int32_t larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}
EP_INLINE bool larger(bool a, bool b) {
    return a | b;
}

template <class T>
EP_INLINE T smaller(T a, T b) {
    const T ordered = a < b ? a : b;
    const T settled = a == b ? of_bits<T>(bits_of(a) | bits_of(b)) : ordered;
    return a != a ? a : settled;
}
EP_INLINE int32_t smaller(int32_t a, int32_t b) {
    return a < b ? a : b;
}
EP_INLINE bool smaller(bool a, bool b) {
    return a & b;
}

template <class T>
EP_INLINE bool less(T a, T b) {
    return a < b;
}
EP_INLINE bool less(bool a, bool b) {
    return !a & b;
}

template <class T>
EP_INLINE T floored(T x) {
#if EP_ROUNDS
    return std::is_same_v<T, float> ? static_cast<T>(__builtin_floorf(static_cast<float>(x)))
                                    : static_cast<T>(__builtin_floor(static_cast<double>(x)));
#else
    const T limit = T(Float<T>::integer_magic / 3) * 2;  // 2^fraction: no fraction bits from here on
    const T a = absolute_of(x);
    const T near = with_sign_of((a + limit) - limit, x);
    const T below = near > x ? near - T{1} : near;
    return a < limit ? below : x;
#endif
}

// Casts by target. Float to integer truncates and saturates, and NaN gives 0.
template <class R>
struct Cast;

template <>
struct Cast<float> {
    template <class S>
    static EP_INLINE float of(S x, S) {
        return static_cast<float>(x);
    }
    static EP_INLINE float of(bool x, bool) { return x ? 1.0F : 0.0F; }
};
template <>
struct Cast<double> {
    template <class S>
    static EP_INLINE double of(S x, S) {
        return static_cast<double>(x);
    }
    static EP_INLINE double of(bool x, bool) { return x ? 1.0 : 0.0; }
};
template <>
struct Cast<Boolean> {
    template <class S>
    static EP_INLINE bool of(S x, S) {
        return x != S{0};
    }
};
template <>
struct Cast<Half> {
    template <class S>
    static EP_INLINE float of(S x, S) {
        return Cast<float>::of(x, x);
    }
    // Rounded to odd at 24 bits, so that the rounding to float16 that follows sees what a single one would.
    static EP_INLINE float of(double x, double) {
        constexpr uint64_t lost = (uint64_t{1} << 29) - 1;
        const uint64_t bits = bits_of(x);
        const uint64_t sticky = (bits & lost) != 0 ? lost + 1 : 0;
        return static_cast<float>(of_bits<double>((bits & ~lost) | sticky));
    }
};
template <>
struct Cast<int32_t> {
    template <class S>
    static EP_INLINE int32_t of(S x, S) {
        if constexpr (std::is_floating_point_v<S>) {
            constexpr S limit = S(2147483648.0);
            const S number = x == x ? x : S{0};
            const S inside = ((number < limit) & (number >= -limit)) ? number : S{0};
            const int32_t ordinary = static_cast<int32_t>(inside);
            const int32_t high = number >= limit ? std::numeric_limits<int32_t>::max() : ordinary;
            return number < -limit ? std::numeric_limits<int32_t>::min() : high;
        } else {
            return static_cast<int32_t>(x);
        }
    }
};
