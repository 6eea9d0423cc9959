// AddN: sums of many tensors.
#pragma once

#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// The entry of its rows.
int add_n(const void* packed);

// The code of a row of 16-bit floats, if it has any: adds n elements of so many terms, side by side as they are stored;
// and their storage as words.
struct Adder {
    void (*run)(const char* const* at, int terms, void* out, int64_t n);
    const ep_storage* words;
};

}  // namespace ep
