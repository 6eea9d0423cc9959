// Functions written in the words of the dialect's preludes: storage, conversions, NaN-propagating max and min, wrapping
// integers. The same text for every API; a prelude comes before it.

#if EP_WIDE
typedef ep_i64 ep_index;
#else
typedef ep_i32 ep_index;
#endif

// The words by which texts of mathematics/ name what they have for each type. C++ has other meanings for them.
#define EP_NAMED(name, type) name##_##type
#define EP_STRUCT_NAMED(name, type) struct name##_##type
#define EP_STRUCT(name) EP_STRUCT_OF(name)
#define EP_BITS_OF(x) EP_OF(ep_bits)(x)
#define EP_OF_BITS(bits) EP_OF(ep_of_bits)(bits)
#define ep_of_bits_f32 ep_f32_of_bits
#define ep_of_bits_f64 ep_f64_of_bits
// Products and sums are rounded once where the device has instructions for it, and else twice: a device is of one
// class.
#if EP_FMA
#define EP_FUSED(a, b, c) ep_fma(a, b, c)
#else
#define EP_FUSED(a, b, c) ((a) * (b) + (c))
#endif

// Loading gives the compute type: a stored bool may be any non-zero byte.
EP_FN ep_bool ep_load_bool(EP_GLOBAL const ep_bool* p, ep_i64 i) {
    return (ep_bool)(p[i] != 0);
}
EP_FN void ep_store_bool(EP_GLOBAL ep_bool* p, ep_i64 i, ep_bool x) {
    p[i] = x;
}
#define EP_PLAIN_STORAGE(T)                                            \
    EP_FN ep_##T ep_load_##T(EP_GLOBAL const ep_##T* p, ep_i64 i) {    \
        return p[i];                                                   \
    }                                                                  \
    EP_FN void ep_store_##T(EP_GLOBAL ep_##T* p, ep_i64 i, ep_##T x) { \
        p[i] = x;                                                      \
    }
EP_PLAIN_STORAGE(u8)
EP_PLAIN_STORAGE(u16)
EP_PLAIN_STORAGE(u32)
EP_PLAIN_STORAGE(u64)
EP_PLAIN_STORAGE(i32)
EP_PLAIN_STORAGE(i64)
EP_PLAIN_STORAGE(f32)

// Rounded to nearest even; a NaN stays one.
typedef ep_u16 ep_bf16;
EP_FN ep_f32 ep_load_bf16(EP_GLOBAL const ep_bf16* p, ep_i64 i) {
    return ep_f32_of_bits((ep_u32)p[i] << 16);
}
EP_FN void ep_store_bf16(EP_GLOBAL ep_bf16* p, ep_i64 i, ep_f32 x) {
    const ep_u32 bits = ep_bits_f32(x);
    p[i] = (ep_bf16)((x == x ? bits + 0x7fffu + (bits >> 16 & 1u) : bits | 0x400000u) >> 16);
}

// From a compute type to a storage type; the name says to_from. f16 and bf16 are given as the f32 that stores as the
// right one.
#define EP_PLAIN_CONVERSIONS(F)           \
    EP_FN ep_bool ep_bool_##F(ep_##F x) { \
        return (ep_bool)(x != 0);         \
    }                                     \
    EP_FN ep_f32 ep_f32_##F(ep_##F x) {   \
        return (ep_f32)x;                 \
    }
#define EP_SATURATING_CONVERSION(F)                              \
    EP_FN ep_i32 ep_i32_##F(ep_##F x) {                          \
        return x >= (ep_##F)2147483648.0     ? 2147483647        \
               : x < (ep_##F) - 2147483648.0 ? (-2147483647 - 1) \
               : x == x                      ? (ep_i32)x         \
                                             : 0;                \
    }
EP_PLAIN_CONVERSIONS(bool)
EP_PLAIN_CONVERSIONS(i32)
EP_PLAIN_CONVERSIONS(f32)
EP_SATURATING_CONVERSION(f32)
EP_FN ep_i32 ep_i32_bool(ep_bool x) {
    return (ep_i32)x;
}
EP_FN ep_i32 ep_i32_i32(ep_i32 x) {
    return x;
}
EP_FN ep_f32 ep_f16_bool(ep_bool x) {
    return (ep_f32)x;
}
EP_FN ep_f32 ep_f16_f32(ep_f32 x) {
    return x;
}
// Exact as far as a half reaches: integers beyond 2^24 are infinite as halves however they round.
EP_FN ep_f32 ep_f16_i32(ep_i32 x) {
    return (ep_f32)x;
}

EP_FN ep_f32 ep_bf16_bool(ep_bool x) {
    return (ep_f32)x;
}
EP_FN ep_f32 ep_bf16_f32(ep_f32 x) {
    return x;
}
// From 2^24 on rounded to odd, as ep_f16_f64.
EP_FN ep_f32 ep_bf16_i32(ep_i32 x) {
    const ep_u32 size = x < 0 ? 0u - (ep_u32)x : (ep_u32)x;
    const ep_u32 odd = (size & ~0xffu) | ((size & 0xffu) != 0 ? 0x100u : 0u);
    const ep_f32 value = (ep_f32)(size >> 24 != 0 ? odd : size);
    return x < 0 ? -value : value;
}

#if EP_HAS_F64
EP_PLAIN_STORAGE(f64)
EP_PLAIN_CONVERSIONS(f64)
EP_SATURATING_CONVERSION(f64)
EP_FN ep_f64 ep_f64_bool(ep_bool x) {
    return (ep_f64)x;
}
EP_FN ep_f64 ep_f64_i32(ep_i32 x) {
    return (ep_f64)x;
}
EP_FN ep_f64 ep_f64_f32(ep_f32 x) {
    return (ep_f64)x;
}
EP_FN ep_f64 ep_f64_f64(ep_f64 x) {
    return x;
}
// Rounded to odd, so that the rounding to a half that follows is as if it were the only one.
EP_FN ep_f32 ep_f16_f64(ep_f64 x) {
    const ep_f32 near = (ep_f32)x;
    const ep_u32 bits = ep_bits_f32(near);
    const ep_f64 size = ep_abs(x), reached = ep_abs((ep_f64)near);
    return (bits & 1u) || !(size != reached) || x != x ? near : ep_f32_of_bits(reached > size ? bits - 1u : bits + 1u);
}
EP_FN ep_f32 ep_bf16_f64(ep_f64 x) {
    return ep_f16_f64(x);
}
#endif

// Signed arithmetic wraps modulo 2^n; C leaves the overflow of signed types undefined.
#define EP_WRAP(a, operator, b) ((ep_i32)((ep_u32)(a) operator(ep_u32)(b)))
EP_FN ep_i32 ep_quotient(ep_i32 a, ep_i32 b) {
    return b == 0 ? 0 : b == -1 ? EP_WRAP(0, -, a) : a / b;
}

// A NaN on either side wins, and +0 is larger than -0; fmax and fmin do neither.
EP_FN ep_f32 ep_max_f32(ep_f32 a, ep_f32 b) {
    return a > b ? a : b > a ? b : a == b ? ep_f32_of_bits(ep_bits_f32(a) & ep_bits_f32(b)) : a + b;
}
EP_FN ep_f32 ep_min_f32(ep_f32 a, ep_f32 b) {
    return a < b ? a : b < a ? b : a == b ? ep_f32_of_bits(ep_bits_f32(a) | ep_bits_f32(b)) : a + b;
}
#if EP_HAS_F64
EP_FN ep_f64 ep_max_f64(ep_f64 a, ep_f64 b) {
    return a > b ? a : b > a ? b : a == b ? ep_f64_of_bits(ep_bits_f64(a) & ep_bits_f64(b)) : a + b;
}
EP_FN ep_f64 ep_min_f64(ep_f64 a, ep_f64 b) {
    return a < b ? a : b < a ? b : a == b ? ep_f64_of_bits(ep_bits_f64(a) | ep_bits_f64(b)) : a + b;
}
#endif
