// Element types in memory, as the loops of every instruction set see them.
#pragma once

#include "runtime/native.h"

// Elements that are staged as they are stored need no block where they lie contiguously.
struct ep_storage {
    int64_t size;
    int64_t staged_size;
    bool is_direct;
    // n elements as ops read them: in `block`, or where they lie.
    const void* (*load)(const char* at, int64_t step, int64_t n, void* block);
    // `streams`: past the caches; `at` starts a line then, and the step is the size.
    void (*store)(const void* block, char* at, int64_t step, int64_t n, bool streams);
};

namespace ep {

constexpr int64_t BLOCK = 512;

// By element type, in the order of the enumeration in interface.h.
extern const ep_storage baseline_storages[EP_STORAGES];
extern const ep_storage avx2_storages[EP_STORAGES];
extern const ep_storage avx512_storages[EP_STORAGES];

}  // namespace ep
