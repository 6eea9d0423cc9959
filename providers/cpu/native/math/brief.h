// Functions of 16-bit numbers.
#pragma once

#include "exponential.h"
#include "power.h"

// clang-format off: an order of its own
#include "mathematics/begin_f32.h"
#include "mathematics/brief.inc"
#include "mathematics/power_brief.inc"
#include "mathematics/end.h"
// clang-format on
