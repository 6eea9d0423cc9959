// RandomFill: elements made of random words.
#pragma once

#include "families/elementwise/elementwise.h"

namespace ep {

// The source of a row's elements: words from number `word` of a seed's sequence on; low and bound are the numbers of a
// launch as ep_primitives.RandomFill.limits gives them.
struct Draw {
    uint64_t seed;
    uint64_t word;
    uint64_t low;
    uint64_t bound;
};

// The entry of its rows. Tensors are the state, which is read, and advanced at the end, and out; numbers are low and
// bound. The geometry is of out alone, as its only operand, in the order of its elements, of at least one dimension.
int random_fill(const void* packed);

}  // namespace ep
