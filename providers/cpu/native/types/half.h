// float16 <-> float blocks without instructions for it, to nearest even. Included once per instruction set.
#pragma once

inline void widen(const Half* x, float* out, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        const uint32_t magnitude = (x[i].bits & 0x7FFFU) << 13, sign = (x[i].bits & 0x8000U) << 16;
        const uint32_t exponent = magnitude & 0x0F800000U;
        const uint32_t normal = magnitude + (112U << 23);
        // A denormal is its fraction on top of 2^-14, less 2^-14.
        const float denormal = of_bits<float>(magnitude + (113U << 23)) - of_bits<float>(113U << 23);
        const uint32_t finite = exponent == 0 ? bits_of(denormal) : normal;
        out[i] = of_bits<float>(sign | (exponent == 0x0F800000U ? normal + (112U << 23) : finite));
    }
}

inline void narrow(const float* x, Half* out, int64_t n) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
        const uint32_t bits = bits_of(x[i]), sign = (bits >> 16) & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
        const uint32_t normal = (magnitude - (112U << 23) + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
        // Adding 0.5 puts the last bit of a float16 denormal where a float rounds.
        const uint32_t denormal = bits_of(of_bits<float>(magnitude) + 0.5F) - (126U << 23);
        const uint32_t finite = magnitude < (113U << 23) ? denormal : normal;
        const uint32_t beyond = magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U;
        out[i].bits = static_cast<uint16_t>(sign | (magnitude >= (143U << 23) ? beyond : finite));
    }
}
