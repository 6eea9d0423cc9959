// x^y.
#pragma once

#include "exponential.h"
#include "logarithm.h"

#define EP_SHARED "mathematics/signed_power.inc"
#include "shared/each.h"
#define EP_SHARED "mathematics/power.inc"
#include "shared/each.h"
