// Blocks of transposed matrices, for each size of elements.
#pragma once

#include "native.h"

// One block: `height` rows of `width` elements of x become as many columns of out. Steps are in bytes.
struct ep_block {
    const char* x;
    char* out;
    int64_t x_step, out_step, width, height;
    bool streams;      // past the caches
    const char* next;  // where the next block of x begins, null if there is none
};

typedef void (*ep_move)(const ep_block& block);

namespace ep {

// Rows so few that they are read, or written, side by side: from 2 of them on.
constexpr int FEWEST = 2, FEW = 4;

// How blocks are moved, and how large they may be.
struct Blocks {
    int64_t width, height;
    ep_move move;
};

}  // namespace ep

struct ep_transposer {
    int64_t size;  // of an element
    int64_t run;   // elements of a row beside few others
    ep::Blocks blocks;
    // By their number: rows of out, of an x without gaps; rows of x, of an out without gaps.
    ep_move split[ep::FEW - ep::FEWEST + 1];
    ep_move join[ep::FEW - ep::FEWEST + 1];
};

namespace ep {

constexpr int ELEMENT_SIZES = 5;  // 1, 2, 4, 8, 16

extern const ep_transposer baseline_transposers[ELEMENT_SIZES];
extern const ep_transposer avx2_transposers[ELEMENT_SIZES];
extern const ep_transposer avx512_transposers[ELEMENT_SIZES];

}  // namespace ep
