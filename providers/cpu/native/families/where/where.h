// Where: operands are a condition, a, b and out.
#pragma once

#include "families/elementwise/elementwise.h"

namespace ep {

// The entry of its rows. Where the address of a or of b is 0, it is a number: the first or the second of the launch.
int where(const void* packed);

}  // namespace ep
