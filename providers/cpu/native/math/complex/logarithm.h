// Logarithms of complex numbers.
#pragma once

#include "math/logarithm.h"
#include "math/trigonometric.h"
#include "number.h"

#define EP_SHARED "mathematics/complex_logarithm.inc"
#include "math/shared/double.h"
