// The header that every source here includes: standard headers, before any target pragma, and the C interface.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

// CMake defines it as 1 where AVX2 and AVX-512 are compiled too.
#if !defined(EP_X86)
#define EP_X86 0
#endif

#if EP_X86
#include <immintrin.h>
#endif

#define EP_INLINE inline __attribute__((always_inline))

extern "C" {
#include "interface.h"
}

namespace ep {

// From this many bytes moved on, outputs are stored past the caches: these could not keep them anyway.
extern const int64_t STREAMING;
// Whether the processor brings the lines of a stream before they are read.
extern const bool FORESEES;
// From this many bytes moved on, loops fetch what they read next.
extern const int64_t FETCHING;
// Bytes of the second cache, which a core has to itself.
extern const int64_t OWN;
// Streaming stores write whole lines.
constexpr int64_t LINE = 64;

// The plan of a launch.
template <class Plan>
const Plan& plan_of(const void* packed) {
    return *static_cast<const Plan*>(static_cast<const ep_packed*>(packed)->plan);
}

// The numbers of a launch with so many tensors; they are contiguous.
inline const char* numbers_of(const void* packed, int tensors) {
    return reinterpret_cast<const char*>(static_cast<const ep_packed*>(packed)->at + tensors);
}

// The first element of tensor k of a launch: its address plus `offset` bytes.
inline char* place_of(const void* packed, int k, int64_t offset) {
    return reinterpret_cast<char*>(static_cast<const ep_packed*>(packed)->at[k] + offset);
}

}  // namespace ep
