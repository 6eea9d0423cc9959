// From the compute type EP_C to what stores as another element type: ep_to_NAME(x). Floats become integers towards zero
// and saturated, NaN becomes 0; integers wrap; a complex number gives its real part. Narrow floats are given as the f32
// that stores as the right one.

#if EP_FROM_COMPLEX
#define EP_REAL(x) ((x).re)
#define EP_IMAGINARY(x) ((x).im)
#define EP_IS_TRUE(x) (((x).re != 0) | ((x).im != 0))
#else
#define EP_REAL(x) (x)
#define EP_IMAGINARY(x) 0
#define EP_IS_TRUE(x) ((x) != 0)
#endif

EP_FN ep_bool ep_to_bool(EP_C x) {
    return (ep_bool)EP_IS_TRUE(x);
}
EP_FN ep_f32 ep_to_f32(EP_C x) {
    return (ep_f32)EP_REAL(x);
}
EP_FN ep_c64 ep_to_c64(EP_C x) {
    const ep_c64 z = {(ep_f32)EP_REAL(x), (ep_f32)EP_IMAGINARY(x)};
    return z;
}
#if EP_HAS_F64
EP_FN ep_f64 ep_to_f64(EP_C x) {
    return (ep_f64)EP_REAL(x);
}
EP_FN ep_c128 ep_to_c128(EP_C x) {
    const ep_c128 z = {(ep_f64)EP_REAL(x), (ep_f64)EP_IMAGINARY(x)};
    return z;
}
#endif

// Integers of 16 bits are floats, so numbers are clipped before they are converted. Of longer ones `beyond` is the
// least float above them all; it is exact, and so is `least`.
#if EP_FROM_FLOATS
#if EP_FROM_DOUBLES
typedef ep_f64 ep_real;
#else
typedef ep_f32 ep_real;
#endif
#define EP_TO_SHORT(T, least, greatest)                                          \
    EP_FN ep_##T ep_to_##T(EP_C x) {                                             \
        const ep_real number = EP_REAL(x) == EP_REAL(x) ? EP_REAL(x) : 0;        \
        const ep_real raised = number > least ? number : least;                  \
        return (ep_##T)(ep_i32)(raised < greatest ? raised : (ep_real)greatest); \
    }
#define EP_TO_INTEGER(T, least, greatest, beyond)              \
    EP_FN ep_##T ep_to_##T(EP_C x) {                           \
        return EP_REAL(x) >= beyond       ? (ep_##T)(greatest) \
               : EP_REAL(x) < least       ? (ep_##T)(least)    \
               : EP_REAL(x) == EP_REAL(x) ? (ep_##T)EP_REAL(x) \
                                          : (ep_##T)0;         \
    }
#else
#define EP_TO_SHORT(T, least, greatest) EP_TO_INTEGER(T, least, greatest, )
#define EP_TO_INTEGER(T, least, greatest, beyond) \
    EP_FN ep_##T ep_to_##T(EP_C x) {              \
        return (ep_##T)x;                         \
    }
#endif
EP_TO_SHORT(i8, -128.0f, 127.0f)
EP_TO_SHORT(i16, -32768.0f, 32767.0f)
EP_TO_SHORT(u8, 0.0f, 255.0f)
EP_TO_SHORT(u16, 0.0f, 65535.0f)
EP_TO_INTEGER(i32, -2147483648.0f, 0x7fffffff, 2147483648.0f)
EP_TO_INTEGER(i64, -9223372036854775808.0f, ~(ep_u64)0 >> 1, 9223372036854775808.0f)
EP_TO_INTEGER(u32, 0, ~(ep_u32)0, 4294967296.0f)
EP_TO_INTEGER(u64, 0, ~(ep_u64)0, 18446744073709551616.0f)

// A float that rounds to any narrower one as x does: x itself, or x rounded to odd at 24 bits.
#if EP_FROM_FLOATS && EP_FROM_DOUBLES
EP_FN ep_f32 ep_to_narrow(EP_C x) {
    const ep_f32 near = (ep_f32)EP_REAL(x);
    const ep_u32 bits = ep_bits_f32(near);
    const ep_f64 size = ep_abs(EP_REAL(x)), reached = ep_abs((ep_f64)near);
    if ((bits & 1u) || !(size != reached) || size != size) return near;
    return ep_f32_of_bits(reached > size ? bits - 1u : bits + 1u);
}
#elif EP_FROM_FLOATS
EP_FN ep_f32 ep_to_narrow(EP_C x) {
    return EP_REAL(x);
}
#else
EP_FN ep_f32 ep_to_narrow(EP_C x) {
    const ep_u64 size = x < 0 ? (ep_u64)0 - (ep_u64)x : (ep_u64)x;
    const ep_f32 near = (ep_f32)size;
    const ep_u32 bits = ep_bits_f32(near);
    const ep_u64 reached = near < 18446744073709551616.0f ? (ep_u64)near : ~(ep_u64)0;
    const ep_f32 odd = (bits & 1u) || reached == size ? near : ep_f32_of_bits(reached > size ? bits - 1u : bits + 1u);
    return x < 0 ? -odd : odd;
}
#endif
#define ep_to_f16 ep_to_narrow
#define ep_to_bf16 ep_to_narrow
#define ep_to_e4m3 ep_to_narrow
#define ep_to_e5m2 ep_to_narrow
