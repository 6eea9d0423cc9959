// Fills with a number.
#pragma once

#include "families/elementwise/elementwise.h"

namespace ep {

// The loop of their rows.
void fill(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n);

// n elements as they are stored, each `step` bytes from the one before.
void fill_run(const char* element, int64_t size, char* out, int64_t step, int64_t n);

}  // namespace ep
