// The instruction set of AVX-512 F, BW, DQ and VL.
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,prefer-vector-width=512")
#define EP_FMA 1
#define EP_ROUNDS 1
#define EP_F16C 1
#define EP_WIDTH 64
