// Hyperbolic functions and their inverses.
#pragma once

#include "exponential.h"
#include "logarithm.h"

#define EP_SHARED "mathematics/hyperbolic.inc"
#include "shared/each.h"
