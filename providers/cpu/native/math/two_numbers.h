// Functions of two numbers, neither of which overflows where its result does not.
#pragma once

#include "exponential.h"
#include "logarithm.h"

// sqrt(a^2 + b^2)
EP_INLINE float hypotenuse(float a, float b) {
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float value = static_cast<float>(square_root(x * x + y * y));
    return (absolute_of(a) == infinity) | (absolute_of(b) == infinity) ? infinity : value;
}
EP_INLINE double hypotenuse(double a, double b) {
    return modulus(Complex<double>{a, b});
}

// log(e^a + e^b)
template <class T>
EP_INLINE T log_add(T a, T b) {
    const T most = a < b ? b : a, apart = a == b ? T{0} : absolute_of(a - b);
    const T value = most + logarithm1p_of_share(exponential_falling(-apart));
    return (a != a) | (b != b) ? a + b : value;
}
