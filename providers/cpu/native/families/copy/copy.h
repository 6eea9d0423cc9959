// Copies of elements.
#pragma once

#include "families/elementwise/elementwise.h"

namespace ep {

// The loop of their rows.
void copy(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n);

// Rows of at most so many bytes are the business of the code of a row: a call each would dominate.
constexpr int64_t SHORT_COPY = 1024;

// Copies rows that are `outer` bytes apart, contiguous in both.
struct RowCopier {
    void (*run)(const ep_geometry& geometry, char* const* at, const int64_t* outer, int64_t rows);
};

}  // namespace ep
