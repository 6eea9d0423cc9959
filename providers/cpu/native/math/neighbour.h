// The next number of a type in a direction.
#pragma once

#define EP_SHARED "mathematics/neighbour.inc"
#include "shared/each.h"
