// What the launch of LayerNorm and its loops for each instruction set tell each other.
#pragma once

#include "storage.h"

namespace ep {

// A row of at most so many elements is read once.
constexpr int64_t KEPT = 4096;

// Rows [begin, end); `at` has the places of the first elements of the tensors.
using Normalize = void (*)(const ep_layer_norm& norm, const ep_storage& storage, char* const* at, int64_t begin,
                           int64_t end);

// In float and in double.
extern const Normalize baseline_normalizes[2];
extern const Normalize avx2_normalizes[2];
extern const Normalize avx512_normalizes[2];

}  // namespace ep
