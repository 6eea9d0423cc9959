// Reduce's functions for an instruction set, as its launch sees them.
#pragma once

#include "lens.h"
#include "rows.h"
#include "types/storage.h"

namespace ep {

// Elements of neighbours that a row has, which has less lanes and all of them in registers.
constexpr int64_t LEAST_SHORT = 4, MOST_SHORT = 512;

// States and the functions that join them. A state stands for any number of elements; the order of joining is the tree
// of a sum. No operand overlaps another.
struct Joint {
    int64_t size;
    // n states of no element at all
    void (*start)(void* states, int64_t n);
    // `rows` times n contiguous elements, rows `step` elements apart: each into the state at its place of n. Four rows
    // are joined pairwise first.
    void (*take)(void* states, const void* elements, int64_t step, int64_t rows, int64_t n, const Lens& lens);
    // n contiguous elements each of `rows` rows, `across` elements apart: the states of `parts` of a row, one row after
    // the other. NULL: not for this op.
    void (*rows)(void* states, const void* elements, int64_t across, int64_t rows, int64_t n, int64_t parts,
                 const Lens& lens);
    // The states of n rows, `across` elements apart, each of the elements at `count` places after its first. NULL: the
    // order of joining matters, or this op has no such form.
    void (*windows)(void* states, const void* elements, int64_t across, const int64_t* places, int64_t count, int64_t n,
                    const Lens& lens);
    // The same of a line of states in place of elements. NULL: as above.
    void (*slide)(void* states, const void* columns, int64_t across, const int64_t* places, int64_t count, int64_t n);
    void (*merge)(void* states, const void* others, int64_t n);
    // n states, a power of two up to 2 LANES, into the first `parts` by halves
    void (*fold)(void* states, int64_t n, int64_t parts);
};

// The code of a row: its elements come through `from` in the type that a state takes in, its results leave through
// `to`.
struct Reducer {
    const Joint* joint;
    // n rows' states, each as many as an element has parts, into n results as `to` stores them; rows have `terms`
    // elements
    void (*finish)(const void* states, void* out, int64_t n, double terms, const Lens& lens);
    // `rows` times n contiguous elements as they are stored, rows `step` bytes apart, into states as Joint::take does;
    // returns how many places of n are done. NULL: elements come in blocks.
    int64_t (*stored)(void* states, const char* at, int64_t step, int64_t rows, int64_t n, const Lens& lens);
    // A state of n contiguous elements of each of `count` rows, `apart` bytes from one another, as they are stored,
    // taken by LANES and folded. `is_far`: from beyond the caches. NULL: they come in blocks.
    void (*folds)(void* states, const char* at, int64_t apart, int64_t count, int64_t n, const Lens& lens, bool is_far);
    // The same for two such runs from beyond the caches, `apart` bytes from one another. NULL: they go one by one.
    void (*folds_two)(void* states, const char* at, int64_t apart, int64_t n, const Lens& lens);
    Lens lens;
    int64_t parts;
    // How many bytes of memory an element's work is worth.
    int64_t cost;
    bool is_zero_of_nothing;
    // Whether any order of joining gives the same bits.
    bool is_order_free;
    // Sums of squares in double, of which the driver takes roots so that nothing overflows on the way.
    bool has_scaled_root;
};

// The entry of the rows.
int reduce(const void* packed);

}  // namespace ep
