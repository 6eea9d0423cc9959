// The words of the kernel dialect for CUDA, compiled by NVRTC. The twin for OpenCL is ep_opencl/compiler/prelude.h.
// Compile with --fmad=false, so that a product and a sum round as they do on every other device.

typedef unsigned char ep_bool;
typedef int ep_i32;
typedef unsigned int ep_u32;
typedef long long ep_i64;
typedef unsigned long long ep_u64;
typedef signed char ep_i8;
typedef short ep_i16;
typedef unsigned char ep_u8;
typedef unsigned short ep_u16;
typedef struct {
    unsigned short bits;
} ep_f16;
typedef float ep_f32;
typedef double ep_f64;
typedef uint4 ep_u32x4;  // one fetch, one store

#define EP_KERNEL extern "C" __global__ void
#define EP_KERNEL_OF(group) extern "C" __global__ void __launch_bounds__(group)
#define EP_FN static __device__ __forceinline__
#define EP_FN_APART EP_FN
#define EP_GLOBAL
// By an instruction, which the compiler does not take apart for the elements that are in it.
#define EP_STORE_WORD(place, word) (__stwb(place, word))
#define EP_BY_VALUE(T) const __grid_constant__ T
#define EP_CONSTANT_TABLE(T, name, n) static const __device__ T name[n]
#define EP_SHARED_ARRAY(T, name, n) __shared__ T name[n]
#define EP_SHARED_PTR(T) T*
#define EP_BARRIER() __syncthreads()
#define EP_BARRIER_IF(condition) \
    if (condition) __syncthreads()
#define EP_BARRIER_GLOBAL() __syncthreads()
#define EP_INDEPENDENT
#define EP_ROLLED _Pragma("unroll 1")
#define EP_UNROLLED _Pragma("unroll")
#define EP_LOCAL_ID(axis) ((int)threadIdx.axis)
#define EP_LOCAL_SIZE(axis) ((int)blockDim.axis)
#define EP_GROUP_ID(axis) ((ep_i64)blockIdx.axis)
#define EP_GROUP_COUNT(axis) ((ep_i64)gridDim.axis)

// Subgroups: neighbours of a group that exchange values without memory. A group that asks for them has whole ones.
#define EP_SUBGROUPS 1
#define EP_SUBGROUP_SIZE() 32
#define EP_SUBGROUP_ID() ((int)threadIdx.x >> 5)
#define EP_SUBGROUP_LANE() ((int)threadIdx.x & 31)
#define EP_BALLOT(flag) ((ep_u64)__ballot_sync(0xffffffffu, flag))
#define EP_SHUFFLE(x, lane) (__shfl_sync(0xffffffffu, x, lane))

#define EP_INF (__int_as_float(0x7f800000))
#define EP_NAN (__int_as_float(0x7fc00000))

#define ep_sqrt(x) (sqrt(x))
#define ep_floor(x) (floor(x))
#define ep_rint(x) (rint(x))
#define ep_trunc(x) (trunc(x))
#define ep_abs(x) (fabs(x))
#define EP_FMA 1
#define ep_fma(a, b, c) (fma(a, b, c))
// First in a function whose products and sums may be rounded once, where that is as fast.
#define EP_CONTRACTED

EP_FN ep_u32 ep_bits_f32(ep_f32 x) {
    return __float_as_uint(x);
}
EP_FN ep_f32 ep_f32_of_bits(ep_u32 bits) {
    return __uint_as_float(bits);
}
#if EP_HAS_F64
EP_FN ep_u64 ep_bits_f64(ep_f64 x) {
    return (ep_u64)__double_as_longlong(x);
}
EP_FN ep_f64 ep_f64_of_bits(ep_u64 bits) {
    return __longlong_as_double((long long)bits);
}
#endif

#define EP_HALF 1
EP_FN ep_f32 ep_loaded_f16(ep_f16 stored) {
    ep_f32 x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(stored.bits));
    // The instruction takes the sign of a NaN away, and copysign asks for it.
    return x == x ? x : __uint_as_float((stored.bits & 0x8000u) << 16 | 0x7fc00000u);
}
EP_FN ep_f16 ep_stored_f16(ep_f32 x) {
    ep_f16 stored;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(stored.bits) : "f"(x));
    return stored;
}

// Since Ampere.
#if __CUDA_ARCH__ >= 800
#define EP_BFLOAT 1
EP_FN ep_u16 ep_stored_bf16(ep_f32 x) {
    ep_u16 stored;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(stored) : "f"(x));
    return stored;
}
#else
#define EP_BFLOAT 0
#endif
