// Softmaxes and their gradients: the interface between the launch and the passes of each instruction set.
#pragma once

#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// A row is cut by its extent alone: into blocks, whose sums are added pairwise, and these into at most CHUNKS chunks.
// The exponentials of a chunk are relative to its own maximum. So a value depends neither on threads nor on other rows.
constexpr int64_t PIECE = 4096;
constexpr int64_t CHUNKS = 64;
// Columns that are worked on together, in bytes of the type that is computed in.
constexpr int64_t TILE = 256;

struct RowForm {
    const ep_storage* storage;
    int64_t extent, chunk, chunks;
    int64_t step[EP_ROWS];  // bytes from an element of a row to the next
    bool streams;
};

// The measures of the chunks of rows that lie side by side: one pass writes them, another reads them.
struct Measures {
    alignas(LINE) char bytes[CHUNKS * TILE * 2];
};

// The passes over `width` rows that lie side by side, chunks [begin, end) of them. `whole` is all of them in one
// thread, `count` times, `next` bytes apart.
struct Passes {
    int64_t width;  // most rows
    void (*whole)(const RowForm& form, char* const* at, int64_t width, int64_t count, const int64_t* next);
    void (*measure)(const RowForm& form, char* const* at, int64_t width, int64_t begin, int64_t end, void* measures);
    void (*combine)(const RowForm& form, int64_t width, void* measures);
    void (*finish)(const RowForm& form, char* const* at, int64_t width, int64_t begin, int64_t end,
                   const void* measures);
    // Of LogSoftmax, null else: the numbers that finish the elements of each row, its largest element and the logarithm
    // of the sum relative to it, in the type that is computed in. `read` takes what `combine` leaves, `measured` does
    // all for `count` rows or tiles, as `whole` does.
    void (*read)(int64_t width, const void* measures, void* largest, void* logarithms);
    void (*measured)(const RowForm& form, char* const* at, int64_t width, int64_t count, const int64_t* next,
                     void* largest, void* logarithms);
};

// The code of a row.
struct Softmaxes {
    Passes rows, columns;
};

// Bytes of the terms of a row that are kept, by each thread; null without memory.
constexpr int64_t TERMS = int64_t{512} << 10;
char* kept_terms();

// The entries of the rows.
int softmax(const void* packed);
int cross_entropy(const void* packed);

}  // namespace ep
