// What the prelude takes from OpenCL C, for compilers that were kept from declaring all of it: pocl.py says why.

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef ulong size_t;
#define INFINITY (__builtin_inff())
#define as_uint(x) __builtin_astype((x), uint)
#define as_float(x) __builtin_astype((x), float)
#define as_ulong(x) __builtin_astype((x), ulong)
#define as_double(x) __builtin_astype((x), double)

#define EP_DECLARED __attribute__((overloadable, const))
size_t EP_DECLARED get_local_id(uint);
size_t EP_DECLARED get_local_size(uint);
size_t EP_DECLARED get_group_id(uint);
size_t EP_DECLARED get_num_groups(uint);

typedef uint cl_mem_fence_flags;
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);

#define EP_DECLARED_OF(T)   \
    T EP_DECLARED sqrt(T);  \
    T EP_DECLARED floor(T); \
    T EP_DECLARED rint(T);  \
    T EP_DECLARED trunc(T); \
    T EP_DECLARED fabs(T);  \
    T EP_DECLARED fma(T, T, T);
EP_DECLARED_OF(float)
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
EP_DECLARED_OF(double)
#endif
