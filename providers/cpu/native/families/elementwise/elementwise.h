// Kernels that visit single elements: their launches, and the loops over one dimension.
#pragma once

#include "runtime/native.h"
#include "types/storage.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// A launch as the walk sees it: places of all operands, the scalar's own storage among them.
struct Launch {
    const ep_geometry* geometry;
    char* at[EP_OPERANDS];
    int64_t part;  // elements, or tiles
};

// Walk over a launch, by all threads that it is worth.
int enter(Launch& launch);

inline char* place(const ep_geometry* geometry, int operand, intptr_t address) {
    return reinterpret_cast<char*>(address + geometry->offset[operand]);
}

// Of an operand that begins `at` bytes after `tensor`.
inline char* place(const ep_geometry* geometry, int operand, char* tensor, int64_t at) {
    return place(geometry, operand, reinterpret_cast<intptr_t>(tensor) + at);
}

// The code of a row, if it has any: its body for operands that lie side by side as they are stored, but a single one,
// which is in the compute type; and their storage as words.
struct Stored {
    ep_body body;
    const ep_storage* words;
};

// The loops that their bodies are called from.
void unary(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n);
void binary(const ep_geometry* geometry, char* const* at, const int64_t* step, int64_t n);

// Tiles of the last two dimensions, where neighbours of an input lie along the last but one, those of out along the
// last.
class Tiles {
   public:
    static bool are_of(const ep_geometry& geometry) {
        for (int k = 0; k + 1 < geometry.operands; ++k)
            if (geometry.turned[k] != nullptr) return true;
        return false;
    }

    explicit Tiles(const ep_geometry& geometry);

    int64_t count() const { return count_; }
    // Tiles [begin, end) of a launch with operands at these places.
    void walk(char* const* places, int64_t begin, int64_t end) const;

   private:
    const ep_geometry& g_;
    int64_t rows_, along_, down_, count_;
};

// Whether a launch is one of many short rows, of a binary op or a copy, and such rows, which are `outer` bytes apart.
bool has_short_rows(const ep_geometry& geometry);
void short_rows(const ep_geometry& geometry, char* const* at, const int64_t* outer, int64_t rows);

}  // namespace ep
