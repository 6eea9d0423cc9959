// Functions of 16-bit numbers.
#pragma once

#include "exponential.h"
#include "power.h"

#include "mathematics/begin_f32.h"
#include "mathematics/brief.inc"
#include "mathematics/power_brief.inc"
#include "mathematics/end.h"
