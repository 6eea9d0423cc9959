// The logistic function and its logarithm.
#pragma once

#include "exponential.h"
#include "logarithm.h"

#define EP_SHARED "mathematics/logistic.inc"
#include "shared/each.h"
