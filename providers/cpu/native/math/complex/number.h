// Complex numbers: their arithmetic, modulus and conjugate. complex64 is computed in double, see widened().
#pragma once

template <class T>
struct Complex {
    T re, im;
};

template <class T>
struct Binade;
#define EP_SHARED "mathematics/modulus.inc"
#include "math/shared/each.h"
#define EP_SHARED "mathematics/complex.inc"
#include "math/shared/each.h"

template <class T>
EP_INLINE Complex<T> operator+(Complex<T> a, Complex<T> b) {
    return complex_sum(a, b);
}
template <class T>
EP_INLINE Complex<T> operator-(Complex<T> a, Complex<T> b) {
    return complex_difference(a, b);
}
template <class T>
EP_INLINE Complex<T> operator-(Complex<T> z) {
    return complex_negative(z);
}
template <class T>
EP_INLINE Complex<T> operator*(Complex<T> a, Complex<T> b) {
    return complex_product(a, b);
}
template <class T>
EP_INLINE Complex<T> operator*(Complex<T> z, T factor) {
    return complex_scaled(z, factor);
}
template <class T>
EP_INLINE Complex<T> operator/(Complex<T> a, Complex<T> b) {
    return complex_quotient(a, b);
}
template <class T>
EP_INLINE bool operator==(Complex<T> a, Complex<T> b) {
    return complex_equal(a, b);
}
template <class T>
EP_INLINE bool operator!=(Complex<T> a, Complex<T> b) {
    return (a.re != b.re) | (a.im != b.im);
}

// No intermediate of a complex64 operation overflows, underflows or cancels in double beyond what float shows.
EP_INLINE Complex<double> widened(Complex<float> z) {
    return {static_cast<double>(z.re), static_cast<double>(z.im)};
}
EP_INLINE Complex<float> narrowed(Complex<double> z) {
    return {static_cast<float>(z.re), static_cast<float>(z.im)};
}
