// The words of the kernel dialect for OpenCL C 1.2. The twin for CUDA is ep_cuda/compiler/prelude.h.

#pragma OPENCL FP_CONTRACT OFF
#if EP_HAS_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

typedef uchar ep_bool;
typedef int ep_i32;
typedef uint ep_u32;
typedef long ep_i64;
typedef ulong ep_u64;
typedef char ep_i8;
typedef short ep_i16;
typedef uchar ep_u8;
typedef ushort ep_u16;
typedef float ep_f32;
typedef uint4 ep_u32x4;  // one fetch, one store
#if EP_HAS_F64
typedef double ep_f64;
#endif

#define EP_AXIS_x 0
#define EP_AXIS_y 1
#define EP_AXIS_z 2
// Alone, an entry is a function that a kernel of one work-item a group calls: alone.py says why.
#if EP_ALONE
#define EP_KERNEL static __attribute__((noinline)) void
#define EP_KERNEL_OF(group) EP_KERNEL
#define EP_SHARED_ARRAY(T, name, n) T name[n]
#define EP_SHARED_PTR(T) T*
#define EP_LOCAL_ID(axis) 0
#define EP_LOCAL_SIZE(axis) 1
#define EP_GROUP_ID(axis) ep_group
#else
#define EP_KERNEL __kernel void
#define EP_KERNEL_OF(group) __kernel __attribute__((reqd_work_group_size(group, 1, 1))) void
#define EP_SHARED_ARRAY(T, name, n) __local T name[n]
#define EP_SHARED_PTR(T) __local T*
#define EP_LOCAL_ID(axis) ((int)get_local_id(EP_AXIS_##axis))
#define EP_LOCAL_SIZE(axis) ((int)get_local_size(EP_AXIS_##axis))
#define EP_GROUP_ID(axis) ((ep_i64)get_group_id(EP_AXIS_##axis))
#endif
// Always inline: a loop with a call in it does not become vectors.
#ifdef __clang__
#define EP_FN static inline __attribute__((always_inline))
#else
#define EP_FN static inline
#endif
// Not inline where a work-item is a loop: compilers take long over the copies of what is called at many places, and
// seldom. A GPU would have to put the structures in memory that such a function reads.
#if defined(__clang__) && EP_GROUP == 1
#define EP_FN_APART static __attribute__((noinline))
#else
#define EP_FN_APART EP_FN
#endif
#define EP_GLOBAL __global
#define EP_STORE_WORD(place, word) (*(place) = (word))
#define EP_BY_VALUE(T) const T
#define EP_CONSTANT_TABLE(T, name, n) __constant T name[n]
// A work-item that is a group waits for nobody; PoCL compiles longer where it would.
#if EP_GROUP == 1
#define EP_BARRIER()
#define EP_BARRIER_IF(condition)
#define EP_BARRIER_GLOBAL()
#else
#define EP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define EP_BARRIER_IF(condition) EP_BARRIER()  // not every compiler for CPUs takes one under a condition
#define EP_BARRIER_GLOBAL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif
// Before a loop none of whose iterations touches what another writes: compilers for CPUs make vectors of it. In those
// Oclgrind takes lanes that are left out for values that nobody wrote.
#ifdef EP_INTERPRETED
#define EP_INDEPENDENT _Pragma("clang loop vectorize(disable)")
#elif defined(__clang__)
#define EP_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define EP_INDEPENDENT
#endif
// Before a loop that is not worth more code: compilers take their time to make vectors, and copies of its body.
#ifdef __clang__
#define EP_ROLLED _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define EP_ROLLED
#endif
// Before a loop whose copies keep an array of a work-item in registers, or that has few turns in a loop of vectors.
#define EP_UNROLLED _Pragma("unroll")
// Numbers side by side, as in an array, that operators take at once. Loops over them have to become vectors first.
#ifdef __clang__
#define EP_VECTOR(T, n) __attribute__((ext_vector_type(n), aligned(sizeof(T)))) T
#define EP_CONVERTED_VECTOR(x, V) __builtin_convertvector(x, V)
#endif
// The line at a place will be read soon, or written. The place may lie beside memory: nothing is read. A processor that
// foresees what follows has the word in programs alone that move rows which lie apart: their loops would take longer.
#if defined(__clang__) && defined(EP_ON_CPU) && !defined(EP_INTERPRETED) && \
    (!defined(EP_FORESEES) || defined(EP_ROWS_APART))
#define EP_PREFETCH(place) __builtin_prefetch((const void*)(size_t)(place), 0)
#define EP_PREFETCH_TO(place) __builtin_prefetch((const void*)(size_t)(place), 1)
#endif
#define EP_GROUP_COUNT(axis) ((ep_i64)get_num_groups(EP_AXIS_##axis))

// Subgroups: neighbours of a group that exchange values without memory; of one where the compiler has none.
#if defined(cl_khr_subgroup_shuffle) && defined(cl_khr_subgroup_ballot)
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#define EP_SUBGROUPS 1
#define EP_SUBGROUP_SIZE() ((int)get_sub_group_size())
#define EP_SUBGROUP_ID() ((int)get_sub_group_id())
#define EP_SUBGROUP_LANE() ((int)get_sub_group_local_id())
#define EP_BALLOT(flag) (as_ulong(sub_group_ballot(flag).xy))
#define EP_SHUFFLE(x, lane) (sub_group_shuffle(x, (uint)(lane)))
#else
#define EP_SUBGROUPS 0
#define EP_SUBGROUP_SIZE() 1
#define EP_SUBGROUP_ID() EP_LOCAL_ID(x)
#define EP_SUBGROUP_LANE() 0
#define EP_BALLOT(flag) ((ep_u64)((flag) != 0))
#define EP_SHUFFLE(x, lane) (x)
#endif

#define EP_INF (INFINITY)
#define EP_NAN (as_float(0x7fc00000))

// PoCL leaves them as calls, and so makes no vectors; clang has an instruction for each.
#if defined(POCL_DEVICE_ADDRESS_BITS) && defined(__SSE4_1__)
#define POCL_INSTRUCTION(name, builtin)                         \
    EP_FN __attribute__((overloadable)) ep_f32 name(ep_f32 x) { \
        return builtin##f(x);                                   \
    }                                                           \
    POCL_INSTRUCTION_OF_F64(name, builtin)
#if EP_HAS_F64
#define POCL_INSTRUCTION_OF_F64(name, builtin)                  \
    EP_FN __attribute__((overloadable)) ep_f64 name(ep_f64 x) { \
        return builtin(x);                                      \
    }
#else
#define POCL_INSTRUCTION_OF_F64(name, builtin)
#endif
POCL_INSTRUCTION(ep_sqrt, __builtin_sqrt)
POCL_INSTRUCTION(ep_floor, __builtin_floor)
POCL_INSTRUCTION(ep_rint, __builtin_rint)
POCL_INSTRUCTION(ep_trunc, __builtin_trunc)
POCL_INSTRUCTION(ep_abs, __builtin_fabs)
#else
#define ep_sqrt(x) (sqrt(x))
#define ep_floor(x) (floor(x))
#define ep_rint(x) (rint(x))
#define ep_trunc(x) (trunc(x))
// Where SPIR-V comes between, as for Intel's runtime, `fabs` is a call that vectors are not made of.
#ifdef __SPIR__
EP_FN __attribute__((overloadable)) ep_f32 ep_abs(ep_f32 x) {
    return as_float(as_uint(x) & 0x7fffffffu);
}
#if EP_HAS_F64
EP_FN __attribute__((overloadable)) ep_f64 ep_abs(ep_f64 x) {
    return as_double(as_ulong(x) & 0x7ffffffffffffffful);
}
#endif
#else
#define ep_abs(x) (fabs(x))
#endif
#endif
// PoCL says of no processor that one instruction rounds products and sums once; its compiler names those that have it.
#if defined(POCL_DEVICE_ADDRESS_BITS) && defined(__FMA__)
#define FP_FAST_FMAF 1
#define FP_FAST_FMA 1
EP_FN __attribute__((overloadable)) ep_f32 ep_fma(ep_f32 a, ep_f32 b, ep_f32 c) {
    return __builtin_fmaf(a, b, c);
}
#if EP_HAS_F64
EP_FN __attribute__((overloadable)) ep_f64 ep_fma(ep_f64 a, ep_f64 b, ep_f64 c) {
    return __builtin_fma(a, b, c);
}
#endif
#else
#define ep_fma(a, b, c) (fma(a, b, c))
#endif
#if defined(FP_FAST_FMAF) && (!defined(cl_khr_fp64) || defined(FP_FAST_FMA))
#define EP_FMA 1
#else
#define EP_FMA 0
#endif
// First in a function whose products and sums may be rounded once, where that is as fast.
#define EP_CONTRACTED _Pragma("OPENCL FP_CONTRACT ON")

EP_FN ep_u32 ep_bits_f32(ep_f32 x) {
    return as_uint(x);
}
EP_FN ep_f32 ep_f32_of_bits(ep_u32 bits) {
    return as_float(bits);
}
#if EP_HAS_F64
EP_FN ep_u64 ep_bits_f64(ep_f64 x) {
    return as_ulong(x);
}
EP_FN ep_f64 ep_f64_of_bits(ep_u64 bits) {
    return as_double(bits);
}
#endif

// Drivers without cl_khr_fp16 convert halves one by one, PoCL by a call; Intel's for CPUs, which has it, makes no
// vectors of that. There the dialect does it by their bits, but where clang has an instruction. Oclgrind has it, and
// converts none.
#if defined(cl_khr_fp16) && !defined(EP_INTERPRETED) && !defined(EP_ON_CPU)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define EP_HALF 1
typedef half ep_f16;
EP_FN ep_f32 ep_loaded_f16(ep_f16 stored) {
    return convert_float(stored);
}
EP_FN ep_f16 ep_stored_f16(ep_f32 x) {
    return convert_half_rte(x);
}
#elif defined(POCL_DEVICE_ADDRESS_BITS) && defined(__F16C__)
#define EP_HALF 1
typedef ushort ep_f16;
// A NaN gets the bit that it has anyway, through which clang cannot look: else it would compute with halves what comes
// to the same, for which processors have no instructions.
EP_FN ep_f32 ep_loaded_f16(ep_f16 stored) {
    const ep_u32 is_nan = (stored & 0x7fffu) > 0x7c00u;
    return as_float(as_uint(__builtin_load_halff((const half*)&stored)) | is_nan << 22);
}
EP_FN ep_f16 ep_stored_f16(ep_f32 x) {
    const ep_u32 is_nan = x != x;
    ep_f16 stored;
    __builtin_store_halff(as_float(as_uint(x) | is_nan << 22), (half*)&stored);
    return stored;
}
#else
#define EP_HALF 0
#endif
#define EP_BFLOAT 0
