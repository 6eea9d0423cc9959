// What every source here shares: standard headers, before any target pragma, and the C interface.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

// -DEP_X86=0 builds on x86 what other machines get.
#if !defined(EP_X86)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define EP_X86 1
#else
#define EP_X86 0
#endif
#endif

#if EP_X86
#include <immintrin.h>
#endif

#define EP_INLINE inline __attribute__((always_inline))

extern "C" {
#include "interface.h"
}

namespace ep {

// From this many bytes moved on, outputs go past the caches: they would push out what they cannot keep anyway.
extern const int64_t STREAMING;
// Streaming stores write whole lines.
constexpr int64_t LINE = 64;

extern const ep_table baseline_table;
extern const ep_table avx2_table;
extern const ep_table avx512_table;

}  // namespace ep
