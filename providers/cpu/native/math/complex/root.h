// Square roots of complex numbers, and other functions that need no elementary function.
#pragma once

#include "number.h"

template <class T>
struct Root;
#define EP_SHARED "mathematics/complex_root.inc"
#include "math/shared/double.h"
