// The Hurwitz zeta function.
#pragma once

#include "gamma.h"
#include "power.h"

#define EP_SHARED "mathematics/zeta.inc"
#include "shared/each.h"
