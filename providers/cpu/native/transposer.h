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

struct ep_transposer {
    int64_t size;           // of an element
    int64_t width, height;  // of the largest block
    void (*move)(const ep_block& block);
};

namespace ep {

constexpr int ELEMENT_SIZES = 5;  // 1, 2, 4, 8, 16

extern const ep_transposer baseline_transposers[ELEMENT_SIZES];
extern const ep_transposer avx2_transposers[ELEMENT_SIZES];
extern const ep_transposer avx512_transposers[ELEMENT_SIZES];

}  // namespace ep
