// The floats of 8 bits, which load to f32. Rounded to nearest even; a NaN stays one. e4m3 has no infinity: numbers
// beyond its greatest are NaN.

typedef ep_u8 ep_e4m3;
typedef ep_u8 ep_e5m2;

// `shift` is how far the fraction lies from a float's, `least` the bits of the least normal number, `top` those of the
// greatest finite magnitude, `beyond` and `nan` those of numbers beyond it and of NaN.
EP_FN ep_f32 ep_wide_float8(ep_u32 bits, int shift, ep_u32 least, ep_u32 top, ep_u32 special) {
    const ep_u32 magnitude = bits & 0x7fu, wide = magnitude << shift;
    // A denormal is its fraction on top of the least normal number, less that number.
    const ep_u32 denormal = ep_bits_f32(ep_f32_of_bits(wide + least) - ep_f32_of_bits(least));
    const ep_u32 finite = wide < 0x800000u ? denormal : wide + (least - 0x800000u);
    return ep_f32_of_bits((bits & 0x80u) << 24 |
                          (magnitude > top ? magnitude == top + 1u ? special : 0x7fc00000u : finite));
}
EP_FN ep_u8 ep_narrow_float8(ep_f32 x, int shift, ep_u32 least, ep_u32 top, ep_u32 beyond, ep_u32 nan) {
    const ep_u32 bits = ep_bits_f32(x), magnitude = bits & 0x7fffffffu;
    const ep_u32 normal =
        (magnitude - (least - 0x800000u) + ((1u << (shift - 1)) - 1u) + (magnitude >> shift & 1u)) >> shift;
    // Adding it puts the last bit of a denormal where a float rounds.
    const ep_u32 anchor = least + ((ep_u32)shift << 23);
    const ep_u32 denormal = ep_bits_f32(ep_f32_of_bits(magnitude) + ep_f32_of_bits(anchor)) - anchor;
    const ep_u32 rounded = magnitude < least ? denormal : normal;
    const ep_u32 finite = rounded > top ? beyond : rounded;
    return (ep_u8)((bits >> 24 & 0x80u) | (magnitude > 0x7f800000u ? nan : finite));
}

EP_FN ep_f32 ep_loaded_e4m3(ep_e4m3 stored) {
    return ep_wide_float8(stored, 20, 121u << 23, 0x7eu, 0x7fc00000u);
}
EP_FN ep_e4m3 ep_stored_e4m3(ep_f32 x) {
    return ep_narrow_float8(x, 20, 121u << 23, 0x7eu, 0x7fu, 0x7fu);
}
EP_FN ep_f32 ep_loaded_e5m2(ep_e5m2 stored) {
    return ep_wide_float8(stored, 21, 113u << 23, 0x7bu, 0x7f800000u);
}
EP_FN ep_e5m2 ep_stored_e5m2(ep_f32 x) {
    return ep_narrow_float8(x, 21, 113u << 23, 0x7bu, 0x7cu, 0x7eu);
}

#define ep_greatest_e4m3 448.0f
#define ep_greatest_e5m2 57344.0f
