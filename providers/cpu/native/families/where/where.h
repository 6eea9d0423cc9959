// Where: operands are a condition, a, b and out.
#pragma once

#include "families/elementwise/elementwise.h"

namespace ep {

// The entry of its rows: a, b or both may be numbers.
int where(const void* packed);

}  // namespace ep
