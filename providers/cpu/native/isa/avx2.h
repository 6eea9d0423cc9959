// The instruction set of AVX2, FMA and F16C.
#pragma GCC target("avx2,fma,f16c")
#define EP_FMA 1
#define EP_ROUNDS 1
#define EP_F16C 1
#define EP_WIDTH 32
#define EP_HALVES
