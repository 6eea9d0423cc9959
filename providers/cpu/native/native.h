// What every source here shares: standard headers, before any target pragma, and the C interface.
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
#include "interface_indices.h"
#include "interface_iota.h"
#include "interface_layer_norm.h"
#include "interface_moves.h"
#include "interface_rows.h"
#include "interface_softmax.h"
#include "interface_top_k.h"
}

namespace ep {

// From this many bytes moved on, outputs go past the caches: they would push out what they cannot keep anyway.
extern const int64_t STREAMING;
// Streaming stores write whole lines.
constexpr int64_t LINE = 64;

}  // namespace ep
