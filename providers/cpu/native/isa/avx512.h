// The instruction set of AVX-512 F, BW, DQ and VL; of a group that CMake compiles so, that of AVX2.
#if EP_AS_AVX2
#include "avx2.h"
#else
#if EP_EMULATED
#pragma GCC target("avx2,fma,f16c")
#include "emulated_avx512.h"
#define EP_HALVES
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,prefer-vector-width=512")
// A loop that waits for memory: in halves of a line Zen 4 reads up to 1.3 times as fast, and no slower from caches.
#define EP_HALVES __attribute__((target("prefer-vector-width=256")))
#endif
#define EP_FMA 1
#define EP_ROUNDS 1
#define EP_F16C 1
#define EP_WIDTH 64
#endif
