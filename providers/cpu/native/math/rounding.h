// To integers, of floats: down, up, towards zero, to nearest even. Zeros keep their sign.
#pragma once

#if EP_ROUNDS
EP_INLINE float floored(float x) {
    return __builtin_floorf(x);
}
EP_INLINE double floored(double x) {
    return __builtin_floor(x);
}
EP_INLINE float rounded(float x) {
    return __builtin_rintf(x);
}
EP_INLINE double rounded(double x) {
    return __builtin_rint(x);
}
EP_INLINE float truncated(float x) {
    return __builtin_truncf(x);
}
EP_INLINE double truncated(double x) {
    return __builtin_trunc(x);
}
#else
template <class T>
EP_INLINE T rounded(T x) {
    constexpr T limit = T(Float<T>::integer_magic / 3) * 2;  // 2^fraction: no fraction bits from here on
    const T a = absolute_of(x);
    return a < limit ? with_sign_of((a + limit) - limit, x) : x;
}
template <class T>
EP_INLINE T floored(T x) {
    const T near = rounded(x);
    return near > x ? near - T{1} : near;
}
template <class T>
EP_INLINE T truncated(T x) {
    return with_sign_of(floored(absolute_of(x)), x);
}
#endif

template <class T>
EP_INLINE T raised(T x) {
    return -floored(-x);
}
