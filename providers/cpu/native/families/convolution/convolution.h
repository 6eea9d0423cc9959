// The interface between the launch of Convolution and its loops for each instruction set.
#pragma once

#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// Windows have at most so many elements in a channel.
constexpr int64_t WINDOW = 1024;
// Elements that sums read and write beyond the last one that counts.
constexpr int64_t BEYOND = 128;

// A piece: an image, a group of its channels, and windows along the first dimension.
struct Piece {
    int64_t image, group, first, count;
};

// The code of a row.
struct Convolver {
    // Pieces [begin, end), numbered image by image, group by group, in `room` bytes of scratch.
    void (*run)(const ep_convolution_plan& plan, char* const* at, int64_t begin, int64_t end, char* scratch);
};

// The entry of the rows.
int convolution(const void* packed);

}  // namespace ep
