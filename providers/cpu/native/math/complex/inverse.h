// Inverse circular and hyperbolic functions of complex numbers.
#pragma once

#include "circular.h"
#include "math/hyperbolic.h"
#include "math/logarithm.h"
#include "root.h"

template <class T>
struct Sides;
#define EP_SHARED "mathematics/complex_inverse.inc"
#include "math/shared/double.h"
