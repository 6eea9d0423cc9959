// Complex numbers: their arithmetic, modulus and conjugate. complex64 is computed in double, see widened().
#pragma once

template <class T>
struct Complex {
    T re, im;
};

template <class T>
EP_INLINE Complex<T> operator+(Complex<T> a, Complex<T> b) {
    return {a.re + b.re, a.im + b.im};
}
template <class T>
EP_INLINE Complex<T> operator-(Complex<T> a, Complex<T> b) {
    return {a.re - b.re, a.im - b.im};
}
template <class T>
EP_INLINE Complex<T> operator-(Complex<T> z) {
    return {-z.re, -z.im};
}
template <class T>
EP_INLINE Complex<T> operator*(Complex<T> a, Complex<T> b) {
    return {fused(a.re, b.re, -(a.im * b.im)), fused(a.re, b.im, a.im * b.re)};
}
template <class T>
EP_INLINE Complex<T> operator*(Complex<T> z, T factor) {
    return {z.re * factor, z.im * factor};
}
template <class T>
EP_INLINE bool operator==(Complex<T> a, Complex<T> b) {
    return (a.re == b.re) & (a.im == b.im);
}
template <class T>
EP_INLINE bool operator!=(Complex<T> a, Complex<T> b) {
    return (a.re != b.re) | (a.im != b.im);
}
template <class T>
EP_INLINE Complex<T> conjugate(Complex<T> z) {
    return {z.re, -z.im};
}

// No intermediate of a complex64 operation overflows, underflows or cancels in double beyond what float shows.
EP_INLINE Complex<double> widened(Complex<float> z) {
    return {static_cast<double>(z.re), static_cast<double>(z.im)};
}
EP_INLINE Complex<float> narrowed(Complex<double> z) {
    return {static_cast<float>(z.re), static_cast<float>(z.im)};
}

// The greater and the lesser of |re| and |im|.
template <class T>
struct Magnitudes {
    T greater, lesser;
};
template <class T>
EP_INLINE Magnitudes<T> magnitudes(Complex<T> z) {
    const T a = absolute_of(z.re), b = absolute_of(z.im);
    return {a < b ? b : a, a < b ? a : b};
}

template <class T>
struct Binade;
#define EP_SHARED "mathematics/modulus.inc"
#include "math/shared.h"

template <class T>
EP_INLINE T modulus(Complex<T> z) {
    return modulus_of(z.re, z.im);
}

// 1 / z, not finite at 0.
template <class T>
EP_INLINE Complex<T> reciprocal(Complex<T> z) {
    const Binade<T> binade = binade_of(magnitudes(z).greater);
    const Complex<T> unit = z * binade.down;
    const T factor = T{1} / fused(unit.re, unit.re, unit.im * unit.im);
    return {unit.re * factor * binade.down, -unit.im * factor * binade.down};
}

template <class T>
EP_INLINE Complex<T> operator/(Complex<T> a, Complex<T> b) {
    const Binade<T> top = binade_of(magnitudes(a).greater), bottom = binade_of(magnitudes(b).greater);
    const Complex<T> unit = b * bottom.down, product = (a * top.down) * conjugate(unit);
    const T norm = fused(unit.re, unit.re, unit.im * unit.im);
    return {product.re / norm * bottom.down * top.up, product.im / norm * bottom.down * top.up};
}
