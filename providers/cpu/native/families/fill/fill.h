// Fills with a number.
#pragma once

#include "families/elementwise/elementwise.h"

namespace ep {

// The loop of their rows.
void fill(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n);

}  // namespace ep
