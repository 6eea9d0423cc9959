// Element types as they are stored, the types that ops see, and the way between them.
// Included once per instruction set, in an anonymous namespace, after math/complex/number.h.
#pragma once

struct Boolean {
    uint8_t byte;
};
struct Half {
    uint16_t bits;
};
struct BFloat16 {
    uint16_t bits;
};
// A bfloat16 in the upper half of the word, to nearest even.
EP_INLINE uint32_t narrowed_word(float x) {
    const uint32_t bits = bits_of(x);
    const uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
    return x == x ? rounded : bits | 0x400000U;
}

struct Float8E4M3FN {
    uint8_t bits;
};
struct Float8E5M2 {
    uint8_t bits;
};

using T_bool = Boolean;
using T_int8 = int8_t;
using T_int16 = int16_t;
using T_int32 = int32_t;
using T_int64 = int64_t;
using T_uint8 = uint8_t;
using T_uint16 = uint16_t;
using T_uint32 = uint32_t;
using T_uint64 = uint64_t;
using T_float8_e4m3fn = Float8E4M3FN;
using T_float8_e5m2 = Float8E5M2;
using T_float16 = Half;
using T_bfloat16 = BFloat16;
using T_float32 = float;
using T_float64 = double;
using T_complex64 = Complex<float>;
using T_complex128 = Complex<double>;

// The real part of a complex element: the source of a cast, or its target, where the imaginary part becomes 0.
template <class T>
struct RealOf {
    T re;
};

template <class T>
constexpr int code_of = -1;
#define EP_CODE(T, ...) \
    template <>         \
    constexpr int code_of<T_##T> = EP_##T;
EP_STORED(EP_CODE, )
#undef EP_CODE
template <>
constexpr int code_of<RealOf<float>> = EP_real_of_complex64;
template <>
constexpr int code_of<RealOf<double>> = EP_real_of_complex128;

template <class T>
constexpr bool is_narrow = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> || std::is_same_v<T, Float8E4M3FN> ||
                           std::is_same_v<T, Float8E5M2>;

// The type of blocks between memory and an op: narrow floats become float.
template <class T>
struct StagedAs {
    using type = std::conditional_t<is_narrow<T>, float, T>;
};
template <class T>
struct StagedAs<RealOf<T>> {
    using type = T;
};
template <class T>
using Staged = typename StagedAs<T>::type;

// A staged element as an op takes it.
template <class T>
EP_INLINE T get(T x) {
    return x;
}
EP_INLINE bool get(Boolean x) {
    return x.byte != 0;
}
EP_INLINE Complex<double> get(Complex<float> z) {
    return widened(z);
}
template <class R, class V>
EP_INLINE R put(V value) {
    if constexpr (std::is_same_v<R, Boolean>) {
        return {static_cast<uint8_t>(value)};
    } else if constexpr (std::is_same_v<R, Complex<float>>) {
        return narrowed(value);
    } else if constexpr (std::is_same_v<R, Complex<double>>) {
        return value;
    } else {
        return static_cast<R>(value);
    }
}

// Attributes as an op sees them: in the float type that it computes in, in double where that is none.
template <class V>
struct AttributeOf {
    using type = std::conditional_t<std::is_same_v<V, float>, float, double>;
};
template <class S>
using Attribute = typename AttributeOf<decltype(get(S{}))>::type;
