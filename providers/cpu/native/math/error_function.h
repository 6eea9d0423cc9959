// erf, erfc and their derivative.
#pragma once

#include "exponential.h"

#define EP_SHARED "mathematics/error_function.inc"
#include "shared/each.h"
