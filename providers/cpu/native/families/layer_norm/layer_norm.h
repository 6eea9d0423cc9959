// The interface between the launch of LayerNorm and its loops for each instruction set.
#pragma once

#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// A row of at most so many elements is read once.
constexpr int64_t KEPT = 4096;

// The code of a row: normalizes rows [begin, end); `at` has the places of the first elements of the tensors.
struct Normalizer {
    void (*run)(const ep_layer_norm_plan& plan, char* const* at, int64_t begin, int64_t end);
};

// The entry of the rows.
int layer_norm(const void* packed);

}  // namespace ep
