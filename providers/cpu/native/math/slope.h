// Derivatives times dy that take more than one expression.
#pragma once

#include "exponential.h"

#define EP_SHARED "mathematics/slope.inc"
#include "shared/each.h"
