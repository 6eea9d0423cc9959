// The logistic function and its logarithm: by e^-|x|, which neither overflows nor cancels.
#pragma once

#include "exponential.h"
#include "logarithm.h"

template <class T>
EP_INLINE T sigmoid_of(T x) {
    const T e = exponential_falling(-absolute_of(x));
    return (x < T{0} ? e : T{1}) / (T{1} + e);
}

template <class T>
EP_INLINE T log_sigmoid_of(T x) {
    return (x < T{0} ? x : -T{0}) - logarithm1p_of_share(exponential_falling(-absolute_of(x)));
}
