// Iota: its operands are its numbers, which stay where they are, places counted from their address on, and out.
#pragma once

#include "families/elementwise/elementwise.h"

namespace ep {

// The places of a block's elements.
struct Places {
    int64_t first, by;
};

// The numbers of a launch, start and step, each in the compute type.
struct IotaNumbers {
    char start[EP_NUMBER];
    char step[EP_NUMBER];
};

// The entry of its rows: the geometry is of the numbers, of the places, one byte a place along the axis, and of out,
// which is the launch's only tensor.
int iota(const void* packed);
// The loop of its rows.
void iota_loop(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n);

}  // namespace ep
