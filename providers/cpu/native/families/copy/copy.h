// Copies of elements.
#pragma once

#include "families/elementwise/elementwise.h"

namespace ep {

// The loop of their rows.
void copy(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n);

}  // namespace ep
