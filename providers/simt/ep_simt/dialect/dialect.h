// Functions written in the words of the dialect's preludes: storage, wrapping integers, NaN-propagating max and min.
// The same text for every API; a prelude comes before it. EP_OF(name) is what the compute type calls `name`.

#if EP_WIDE
typedef ep_i64 ep_index;
#else
typedef ep_i32 ep_index;
#endif

// The words by which texts of mathematics/ name what they have for each type. C++ has other meanings for them.
#define EP_NAMED(name, type) name##_##type
#define EP_STRUCT_NAMED(name, type) struct name##_##type
// x86-64 hands structures of up to 16 bytes over in registers, two floats as a vector, and clang makes no vectors of a
// loop that holds one. Larger ones it keeps in memory, until they are inlined.
#if defined(__clang__) && defined(__x86_64__)
#define EP_STRUCT(name) struct __attribute__((aligned(32))) EP_OF(name)
#else
#define EP_STRUCT(name) struct EP_OF(name)
#endif
#define EP_UNROLLED_BY_8  // before a loop that C++ makes straight, for vectors, and other compilers take seconds for
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

// Elements that are computed with as something else than they are stored as: a stored bool may be any non-zero byte.
EP_FN ep_bool ep_loaded_bool(ep_bool stored) {
    return (ep_bool)(stored != 0);
}
EP_FN ep_bool ep_stored_bool(ep_bool x) {
    return x;
}

// Sixteen bytes, for what moves bits.
typedef struct {
    ep_u64 low, high;
} ep_u128;

// Complex numbers lie as their parts do. Those of floats, which may be computed in double, are loaded and stored by
// parts: clang would make a vector of the two, and then no vectors of a loop.
EP_STRUCT_NAMED(Complex, f32) {
    ep_f32 re, im;
};
typedef EP_STRUCT_NAMED(Complex, f32) ep_c64;
EP_FN ep_c64 ep_c64_of(ep_f32 re, ep_f32 im) {
    const ep_c64 z = {re, im};
    return z;
}
#if EP_HAS_F64
EP_STRUCT_NAMED(Complex, f64) {
    ep_f64 re, im;
};
typedef EP_STRUCT_NAMED(Complex, f64) ep_c128;
EP_FN ep_c128 ep_c128_of(ep_f32 re, ep_f32 im) {
    const ep_c128 z = {(ep_f64)re, (ep_f64)im};
    return z;
}
#endif
#define EP_STORE_PARTS(T, place, value)    \
    do {                                   \
        const T ep_stored = value;         \
        (place).re = (ep_f32)ep_stored.re; \
        (place).im = (ep_f32)ep_stored.im; \
    } while (0)

// Rounded to nearest even, by the prelude where the device has an instruction for it; a NaN stays one.
typedef ep_u16 ep_bf16;
EP_FN ep_f32 ep_loaded_bf16(ep_bf16 stored) {
    return ep_f32_of_bits((ep_u32)stored << 16);
}
#if !EP_BFLOAT
EP_FN ep_bf16 ep_stored_bf16(ep_f32 x) {
    const ep_u32 bits = ep_bits_f32(x);
    return (ep_bf16)((x == x ? bits + 0x7fffu + (bits >> 16 & 1u) : bits | 0x400000u) >> 16);
}
#endif

// Halves, where the prelude has no conversions of the device's own. A NaN is stored as the quiet one.
#if !EP_HALF
typedef ep_u16 ep_f16;
EP_FN ep_f32 ep_loaded_f16(ep_f16 stored) {
    const ep_u32 sign = ((ep_u32)stored & 0x8000u) << 16, size = ((ep_u32)stored & 0x7fffu) << 13;
    // A denormal is its fraction on top of 2^-14, less 2^-14.
    const ep_u32 denormal = ep_bits_f32(ep_f32_of_bits(size + 0x38800000u) - ep_f32_of_bits(0x38800000u));
    const ep_u32 finite = size < 0x00800000u ? denormal : size + 0x38000000u;
    return ep_f32_of_bits(sign | (size >= 0x0f800000u ? size | 0x7f800000u : finite));
}
// Rounded to nearest even; adding 0.5 puts the last bit of a denormal where a float rounds.
EP_FN ep_f16 ep_stored_f16(ep_f32 x) {
    const ep_u32 sign = ep_bits_f32(x) >> 16 & 0x8000u, size = ep_bits_f32(x) & 0x7fffffffu;
    const ep_u32 normal = (size + 0xfffu + (size >> 13 & 1u) - 0x38000000u) >> 13;
    const ep_u32 denormal = ep_bits_f32(ep_f32_of_bits(size) + 0.5f) - 0x3f000000u;
    const ep_u32 finite = size >= 0x477ff000u ? 0x7c00u : size >= 0x38800000u ? normal : denormal;
    return (ep_f16)(sign | (size > 0x7f800000u ? 0x7e00u : finite));
}
#endif

// Integers wrap modulo 2^n; C leaves the overflow of signed types undefined, and makes a signed int of narrow ones.
#define EP_WORD_i8 ep_u32
#define EP_WORD_i16 ep_u32
#define EP_WORD_i32 ep_u32
#define EP_WORD_i64 ep_u64
#define EP_WORD_u8 ep_u32
#define EP_WORD_u16 ep_u32
#define EP_WORD_u32 ep_u32
#define EP_WORD_u64 ep_u64
#define EP_WRAP(a, operator, b) ((EP_C)((EP_OF(EP_WORD))(a) operator(EP_OF(EP_WORD))(b)))

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
