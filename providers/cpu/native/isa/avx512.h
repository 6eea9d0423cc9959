// The instruction set of AVX-512 F, BW, DQ and VL.
#if EP_EMULATED
#pragma GCC target("avx2,fma,f16c")
#include "emulated_avx512.h"
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,prefer-vector-width=512")
#endif
#define EP_FMA 1
#define EP_ROUNDS 1
#define EP_F16C 1
#define EP_WIDTH 64
