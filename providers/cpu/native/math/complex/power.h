// Powers of complex numbers.
#pragma once

#include "exponential.h"
#include "logarithm.h"
#include "math/power.h"

#define EP_SHARED "mathematics/complex_power.inc"
#include "math/shared/double.h"
