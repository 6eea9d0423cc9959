// Vector maths: branch-free templates over float and double, which the compiler vectorises inside a loop.
// Included once per instruction set, in an anonymous namespace, after `EP_FMA` is defined as 0 or 1.
// Polynomials are Chebyshev fits made with 60 digits; README.md has the errors of the whole functions.
#pragma once

// The words of the texts that all providers share, in C++: functions are told apart by their arguments, structures by a
// type.
using ep_f32 = float;
using ep_f64 = double;
using ep_u32 = uint32_t;
using ep_u64 = uint64_t;
#define EP_FN EP_INLINE
#define EP_HAS_F64 1
#define EP_NAMED(name, type) name
#define EP_CONSTANT_TABLE(T, name, n) constexpr T name[n]
#define EP_UNROLLED  // GCC makes loops of so few turns straight
#define EP_UNROLLED_BY_8 _Pragma("GCC unroll 8")
#define EP_STRUCT(name) \
    template <>         \
    struct name<EP_T>
#define EP_STRUCT_NAMED(name, type) name<ep_##type>
#define EP_BITS_OF(x) bits_of(x)
#define EP_OF_BITS(bits) of_bits<EP_T>(bits)
#define EP_FUSED(a, b, c) fused(a, b, c)
#define EP_INF (std::numeric_limits<float>::infinity())
#define EP_NAN (std::numeric_limits<float>::quiet_NaN())
#define ep_abs(x) absolute_of(x)
#define ep_sqrt(x) square_root(x)

template <class T>
struct Float;
template <class T>
struct Exponential;

#define EP_SHARED "math/shared/constants.h"
#include "shared/each.h"

template <class T>
EP_INLINE typename Float<T>::Bits bits_of(T x) {
    typename Float<T>::Bits bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

template <class T>
EP_INLINE T of_bits(typename Float<T>::Bits bits) {
    T x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

EP_INLINE float fused(float a, float b, float c) {
    return EP_FMA ? __builtin_fmaf(a, b, c) : a * b + c;
}
EP_INLINE double fused(double a, double b, double c) {
    return EP_FMA ? __builtin_fma(a, b, c) : a * b + c;
}

struct Horner {
    template <class T>
    EP_INLINE T operator()(T, T value) const {
        return value;
    }
    template <class T, class... Rest>
    EP_INLINE T operator()(T x, T value, T next, Rest... rest) const {
        return (*this)(x, fused(value, x, next), rest...);
    }
};

template <class T>
EP_INLINE T absolute_of(T x) {
    return of_bits<T>(bits_of(x) & ~(typename Float<T>::Bits{1} << (sizeof(T) * 8 - 1)));
}

EP_INLINE float square_root(float x) {
    return __builtin_sqrtf(x);
}
EP_INLINE double square_root(double x) {
    return __builtin_sqrt(x);
}

// A limit that GCC does not know to be a constant: it has one instruction for a least or greatest of two vectors, but
// compares and chooses where one of them is a constant, twice as it joins two limits to one condition.
#if defined(__GNUC__) && !defined(__clang__)
#define EP_LIMIT(x) (ep::unit_of(x) * (x))
#endif

#include "basics.h"
#include "double_word.h"
#include "exponential.h"
