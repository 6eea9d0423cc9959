// Numbers of two words.
#pragma once

template <class T>
struct DoubleWord;
#define EP_SHARED "mathematics/double_word.inc"
#include "shared/each.h"

template <class T>
EP_INLINE DoubleWord<T> operator*(DoubleWord<T> a, DoubleWord<T> b) {
    return words_product(a, b);
}
