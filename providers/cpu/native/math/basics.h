// Signs, limits, whole numbers and powers of two.
#pragma once

#define EP_SHARED "mathematics/basics.inc"
#include "shared/each.h"
