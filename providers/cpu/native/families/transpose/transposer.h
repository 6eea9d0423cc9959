// Blocks of transposed matrices, for each size of elements.
#pragma once

#include "runtime/native.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// One block: `height` rows of `width` elements of x become as many columns of out. Steps are in bytes.
struct Block {
    const char* x;
    char* out;
    int64_t x_step, out_step, width, height;
    bool streams;       // past the caches
    const char* later;  // where the block of x after the next begins, null if there is none or it is near
};

using Move = void (*)(const Block& block);

// Rows so few that they are read, or written, side by side: from 2 of them on.
constexpr int FEWEST = 2, FEW = 4;

// How blocks are moved, and how large they may be.
struct Blocks {
    int64_t width, height;
    Move move;
};

// The code of a row.
struct Transposer {
    int64_t size;        // of an element
    int64_t run;         // elements of a row beside few others
    Blocks blocks, far;  // of matrices in caches, and of large ones beyond these
    // By their number: rows of out, of an x without gaps; rows of x, of an out without gaps.
    Move split[FEW - FEWEST + 1];
    Move join[FEW - FEWEST + 1];
};

// The entry of the rows.
int transpose(const void* packed);

}  // namespace ep
