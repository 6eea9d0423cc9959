// The interface between the launch of Scan and its loops for each instruction set.
#pragma once

#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// So many rows side by side make a tile, and so many tiles a stripe: lines of memory follow one another in it.
constexpr int64_t SCAN_WIDTH = 16, SCAN_TILES = 32;

// The code of a row of the table. `at` has the places of the first elements of x and of out.
struct Scanner {
    // One row.
    void (*along)(const ep_scan_plan& plan, char* const* at);
    // `width` rows, at most a stripe of them, which are neighbours along the last dimension across.
    void (*across)(const ep_scan_plan& plan, char* const* at, int64_t width);
    // As many short rows, whose elements lie side by side.
    void (*rows)(const ep_scan_plan& plan, char* const* at, int64_t count);
};

// The entry of the rows.
int scan(const void* packed);

}  // namespace ep
