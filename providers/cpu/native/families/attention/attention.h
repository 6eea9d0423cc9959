// The interface between the launch of Attention and its loops for each instruction set.
#pragma once

#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// A strip: the scores of neighbouring queries, a row of them for each key, and what is known of each query so far.
struct Strip {
    void* scores;
    int64_t keys;
    double scale;
    // What is added to the scores, which lies as they do; -inf leaves a key out. Null: nothing.
    const void* mask;
    // Query number c meets the keys up to number last + c.
    int64_t last;
    // The largest score of each query, and the sum of its shares, e^(score - largest).
    void *most, *sum;
    // What was summed with the shares of earlier keys is to be multiplied by this.
    void* factor;
};

// The code of a row: loops over strips, whose width is a panel's of Matmul.
struct Strips {
    void (*multiply)(void* scores, int64_t keys, double factor);
    // Scores become shares. False: all factors are 1.
    bool (*share)(const Strip& strip);
    void (*rescale)(void* sums, int64_t rows, const void* factor);
    // Sums of shares by values, a row of them for each column of v, become a row of results for each query.
    void (*finish)(const void* sums, int64_t columns, const void* sum, void* results);
    // n bools, `step` bytes apart, become 0 and -inf.
    void (*choose)(const char* bools, int64_t step, int64_t n, void* mask);
};

// The entry of the rows.
int attention(const void* packed);

}  // namespace ep
