// Functions of two numbers, neither of which overflows where its result does not.
#pragma once

#include "exponential.h"
#include "logarithm.h"

#define EP_SHARED "mathematics/hypotenuse.inc"
#include "shared/each.h"
#define EP_SHARED "mathematics/log_add.inc"
#include "shared/each.h"
