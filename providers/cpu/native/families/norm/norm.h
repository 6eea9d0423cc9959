// The interface between the launch of norms and their loops for each instruction set.
#pragma once

#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// A row of at most so many elements that cannot be read where it lies is brought once.
constexpr int64_t KEPT = 4096;

// The code of a row: normalizes rows [begin, end); `at` has the places of the first elements of the tensors, and
// `streams` says that y goes past the caches.
struct Normalizer {
    void (*run)(const ep_norm_plan& plan, char* const* at, int64_t begin, int64_t end, bool streams);
    // Passes over memory that its passes over a row cost.
    int64_t cost;
};

// The entry of the rows.
int norm(const void* packed);

}  // namespace ep
