// lgamma, digamma, trigamma and the first two's derivatives.
#pragma once

#include "logarithm.h"

#define EP_SHARED "mathematics/gamma.inc"
#include "shared/each.h"
