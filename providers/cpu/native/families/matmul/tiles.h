// Matmul: its launch, and what it needs for each type of elements: panels, and their innermost product.
#pragma once

#include "types/storage.h"

extern "C" {
#include "families/convolution/interface.h"
#include "interface.h"
}

namespace ep {

// A part of a matrix that is packed: `width` runs over rows of a, or columns of b, `depth` over the terms of a sum.
struct Factor {
    const ep_storage* storage;
    const char* at;
    int64_t width_step, depth_step;
    int64_t width, depth;
    bool is_conjugate;
    bool is_far = false;  // from beyond the caches
};

// A matrix whose elements are as sums are kept, and the steps between them, in elements.
template <class T>
struct Lying {
    const T* at;
    int64_t line, column;
};

// Whether columns of a factor, whose rows lie `line` bytes apart, are copied before so many blocks of rows of a meet
// them: where they lie, so many rows share so few places of the nearest cache that none stays.
constexpr bool is_copied(int64_t blocks, int64_t depth, int64_t line) {
    return blocks >= 8 && depth >= 128 && line % 1024 == 0;
}

// What becomes of sums: out = activation(alpha sums + beta out + bias), whose elements and bias are of one storage.
// Steps are in bytes; a bias or an activation that is missing is null.
struct Ending {
    const ep_storage* storage;
    const ep_row* activation;
    const char* bias;
    int64_t bias_line, bias_column;
    char* out;
    int64_t line, column;
    bool is_scaled, reads_out;
    double alpha[2], beta[2];
};

// Columns of a panel that windows are brought for, at most.
constexpr int64_t WINDOWS = 64;

// Columns that tiles of AMX take from a factor as it lies: blocks of two tiles.
constexpr int64_t LYING_COLUMNS = 32;

// The elements of a sum that panels hold, or pairs of them.
constexpr int64_t DEPTH = 256;

// A panel of a holds `rows` elements for each step of the depth, one of b `columns` lanes; the last one is filled up.
struct Tile {
    int rows, columns;
    // Panels of a that meet those of b that all threads share: their sums stay in a core's own cache.
    int64_t block;
    // Lanes that an element takes, elements of the depth in one lane, steps with which each panel begins before its
    // first element, and of which there is a multiple of those that hold elements.
    int widths, terms, ahead, whole;
    // Bytes of a lane, and of a sum.
    int lane, sum;
    // How the elements of both factors are read for panels.
    const ep_storage* storage;
    void (*pack_left)(const Factor& factor, void* panels);
    void (*pack_right)(const Factor& factor, void* panels);
    // Copies `depth` rows of windows from number k on, `columns` of the `width` that there is room for and zeros behind
    // them, elements of `size` bytes; x begins at `at`.
    void (*bring_windows)(const ep_windows& windows, const char* at, int64_t size, int64_t k, int64_t depth,
                          int64_t column, int64_t columns, int64_t width, char* to);
    // Numbers of rows, as bits, that `multiply` takes by themselves; it takes the next larger one, or all.
    uint32_t parts;
    // What a thread does before it multiplies panels, and after that; null, both, where there is nothing to do.
    void (*begin)();
    void (*end)();
    // sums += a panel @ b panel, or sums = that unless it `adds`, for the first `count` rows of the panel or a few
    // more; rows of sums are `step` apart. Meanwhile the first lines at `next` may come into a core's own cache.
    void (*multiply)(const void* a, const void* b, int64_t depth, void* sums, int64_t step, int count, bool adds,
                     const char* next);
    // The same for the first rows of a panel, at most `wide` of them, and so many panels of b, one behind the other.
    // Null, and none, where elements have no such kernel.
    void (*multiply_wide)(const void* a, const void* b, int64_t panels, int64_t depth, void* sums, int64_t step,
                          int count, bool adds);
    int wide;
    // sums += one row @ a factor, read where it lies, for all columns; `row` holds the row's elements as sums are kept.
    // Null where elements have no such kernel.
    void (*multiply_row)(const void* row, const Factor& factor, void* sums);
    // The same for `rows` rows, `line` bytes apart, and a factor whose elements lie side by side in one direction; rows
    // of sums are `step` apart. Null where elements have no such kernel.
    void (*multiply_few)(const void* row, int64_t line, int rows, const Factor& factor, void* sums, int64_t step);
    // Rows for which that is better than others, of a factor along its depth, and across it.
    int few_along, few_across;
    // sums += panels of a @ the whole blocks of a factor as it lies, along its depth or across it, for as many rows as
    // a panel of a has at most: panels of the right factor, or of the left one. The depth is of whole tiles. Blocks of
    // LYING_COLUMNS whose products would not agree with elements of a as small as `least` are left out, and said not
    // to; so are those that did not agree before. Null where elements have no such kernel.
    void (*multiply_lying_along)(const void* a, const Factor& factor, int least, int rows, void* sums, int64_t step,
                                 bool* agrees);
    void (*multiply_lying_across)(const void* a, const Factor& factor, int least, int rows, void* sums, int64_t step,
                                  bool* agrees);
    // sums = a @ b for small factors that are `Lying`; columns of b are dense. Null where elements have no such kernel.
    void (*multiply_small)(const void* a, const void* b, int64_t m, int64_t n, int64_t depth, void* sums, int64_t step);
    // Writes columns of `m` rows of n sums as rows, `to_step` sums apart, with room for whole vectors. Null where an
    // element is two sums.
    void (*turn)(const void* sums, int64_t step, int64_t m, int64_t n, void* to, int64_t to_step);
    // Ends `m` rows of sums of `n` elements, `step` sums apart, which may be other numbers afterwards.
    void (*finish)(const Ending& ending, void* sums, int64_t step, int64_t m, int64_t n);
    // What `otherwise`, which takes the same panels, has other bits for, if anything: `least` says of so many lanes how
    // small their elements are, by a negative number of those that no other agrees with, and `agrees` whether products
    // of such elements have the same bits; null, both, where all have.
    int (*least)(const void* panels, int64_t lanes);
    bool (*agrees)(int a, int b);
    const Tile* otherwise;
    // Of a tile that multiplies sums of another product: makes a panel of b, of so many `steps`, of rows of sums, and
    // says of these as `least` does of panels. Null where rows of sums are such panels.
    int (*stage)(const void* sums, int64_t rows, int64_t steps, void* panel);
    // Whether `multiply` adds to so many sums without a loss.
    bool (*takes)(const void* sums, int64_t numbers);
    // Bytes of a panel that is made so, for each step.
    int64_t staged;
    // The tile of processors that have instructions for it, and whether this one is such; null where there is none.
    const Tile* better;
    bool (*has_better)();
    // The tile of the same elements whose lanes are as sums are kept; null where this is it.
    const Tile* single;
    // The tile by which the same elements are multiplied with sums, faster than by `single`; null where there is none.
    const Tile* staging;

    const Tile& best() const { return better != nullptr && has_better() ? *better : *this; }

    // How many rows `multiply` takes where so few of a panel are left.
    int64_t taken(int64_t count) const {
        while (count < rows && (parts >> count & 1) == 0) ++count;
        return count;
    }

    // Whether the rows of panels of a end where so many rows do.
    bool is_whole(int64_t count) const { return count % rows == 0 || (parts >> count % rows & 1) != 0; }

    // How many steps the panels have for so many elements of the depth.
    int64_t steps(int64_t depth) const {
        const int64_t elements = int64_t{terms} * whole;
        return ahead + (depth + elements - 1) / elements * whole;
    }
};

// A thread multiplies panels.
class Multiplying {
   public:
    explicit Multiplying(const Tile& tile) : tile_(tile) {
        if (tile.begin != nullptr) tile.begin();
    }
    Multiplying(const Multiplying&) = delete;
    Multiplying& operator=(const Multiplying&) = delete;
    ~Multiplying() {
        if (tile_.end != nullptr) tile_.end();
    }

   private:
    const Tile& tile_;
};

// The entry of the rows, whose code is a Tile.
int matmul(const void* packed);

}  // namespace ep
