// Circular and hyperbolic functions of complex numbers.
#pragma once

#include "exponential.h"

template <class T>
struct Hyperbolic;
#define EP_SHARED "mathematics/complex_circular.inc"
#include "math/shared/double.h"
