// Kernels for AVX2, FMA and F16C.
#include "stream.h"

#if EP_X86
#pragma GCC target("avx2,fma,f16c")
#define EP_ISA avx2
#define EP_FMA 1
#define EP_ROUNDS 1
#define EP_F16C 1
#include "kernels.h"
#endif
