"""What threads do together: exchanges within warps, barriers, atomics, shared memory; a kernel in CUDA's C each."""

from __future__ import annotations

import numpy as np
import pytest

LANES = np.arange(64) % 32
GROUPS = [(thread // 32, thread // 7) for thread in range(64)]
MATCHES = [GROUPS.count(group) for group in GROUPS]


@pytest.mark.parametrize(
    ("exchange", "wanted"),
    [
        ("__shfl_sync(~0u, t, 5)", np.arange(64) // 32 * 32 + 5),
        ("__shfl_sync(~0u, t, 5, 8)", np.arange(64) // 8 * 8 + 5),
        ("__shfl_up_sync(~0u, t, 3)", np.where(LANES < 3, np.arange(64), np.arange(64) - 3)),
        ("__shfl_down_sync(~0u, t, 3)", np.where(LANES > 28, np.arange(64), np.arange(64) + 3)),
        ("__shfl_down_sync(~0u, t, 3, 16)", np.where(LANES % 16 > 12, np.arange(64), np.arange(64) + 3)),
        ("__shfl_xor_sync(~0u, t, 17)", np.arange(64) ^ 17),
        ("__ballot_sync(~0u, t % 3 == 0)", [0x49249249] * 32 + [0x92492492 - (1 << 32)] * 32),
        ("__all_sync(~0u, t < 32) * 2 + __any_sync(~0u, t == 40)", [2] * 32 + [1] * 32),
        ("__popc(__match_any_sync(~0u, t / 7))", MATCHES),
        ("__reduce_add_sync(~0u, t)", [496] * 32 + [496 + 1024] * 32),
        ("__reduce_min_sync(~0u, t - 40)", [-40] * 32 + [-8] * 32),
        ("__reduce_max_sync(~0u, (unsigned)t)", [31] * 32 + [63] * 32),
        ("__reduce_xor_sync(~0u, (unsigned)t | 64u)", [0] * 64),
    ],
)
def test_exchange_within_a_warp(kernels, exchange, wanted):
    made = kernels.run(f"__global__ void entry(int *out) {{ int t = threadIdx.x; out[t] = {exchange}; }}")
    assert made.tolist() == list(wanted)


def test_partial_masks_exchange_for_themselves(kernels):
    source = """__global__ void entry(int *out) {
        int t = threadIdx.x;
        if (t & 1) out[t] = __shfl_sync(0xaaaaaaaa, t, 1); else out[t] = __shfl_sync(0x55555555, t, 2);
    }"""
    assert kernels.run(source, 32, 32).tolist() == [1 if lane & 1 else 2 for lane in range(32)]


def test_barriers_separate_writes_from_reads(kernels):
    source = """__global__ void entry(int *out) {
        __shared__ int turn[256];
        int t = threadIdx.x;
        for (int round = 0; round < 5; ++round) {
            turn[t] = t * 10 + round;
            __syncthreads();
            out[t] = turn[255 - t];
            __syncthreads();
        }
    }"""
    assert kernels.run(source, 256, 256).tolist() == [(255 - t) * 10 + 4 for t in range(256)]


def test_barriers_count_flags(kernels):
    source = """__global__ void entry(int *out) {
        int t = threadIdx.x;
        out[t] = __syncthreads_count(t % 3 == 0) * 100 + __syncthreads_and(t < 64) * 10 + __syncthreads_or(t == 5);
    }"""
    assert set(kernels.run(source).tolist()) == {2211}


def test_dynamic_shared_memory_stands_behind_the_static(kernels):
    source = """__global__ void entry(int *out) {
        __shared__ int own[32]; extern __shared__ int more[];
        int t = threadIdx.x;
        own[t] = t; more[t] = 100 + t;
        __syncthreads();
        out[t] = own[31 - t] + more[31 - t];
    }"""
    assert kernels.run(source, 32, 32, shared=128).tolist() == [100 + 2 * (31 - t) for t in range(32)]


def test_blocks_of_three_dimensions_know_their_places(kernels):
    source = """__global__ void entry(int *out) {
        int n = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        out[blockIdx.x * 24 + n] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x;
    }"""
    made = kernels.run(source, (2, 3, 4), 48, grid=2).reshape(2, 4, 3, 2)
    block, z, y, x = np.indices(made.shape)
    assert (made == x + 10 * y + 100 * z + 1000 * block).all()


ATOMICS = {
    "atomicAdd(out, 2)": 512,
    "atomicSub(out, 1)": -256,
    "atomicMax(out, t)": 255,
    "atomicMin(out, -t)": -255,
    "atomicOr(out, 1 << t % 8)": 255,
    "atomicXor(out, t)": 0,
    "atomicInc((unsigned *)out, 9)": 256 % 10,
    "atomicDec((unsigned *)out, 9)": (-256) % 10,
    "atomicExch(out, 7)": 7,
    "{ int old = *out, seen; do { seen = old; old = atomicCAS(out, seen, seen + 3); } while (old != seen); }": 768,
}


@pytest.mark.parametrize("operation", ATOMICS)
def test_no_atomic_operation_is_lost(kernels, operation):
    source = f"__global__ void entry(int *out) {{ int t = threadIdx.x + blockIdx.x * blockDim.x; {operation}; }}"
    assert kernels.run(source, 64, 1, grid=4).tolist() == [ATOMICS[operation]]


def test_floats_are_summed_atomically(kernels):
    source = """__global__ void entry(int *out) {
        float *f = (float *)out; double *d = (double *)(out + 2);
        atomicAdd(f, 0.5f); atomicAdd(d, 0.25);
        unsigned short one = 0x3c00; asm volatile("red.global.add.noftz.f16 [%0], %1;" :: "l"(out + 1), "h"(one));
    }"""
    made = kernels.run(source, 64, 4, grid=4).astype(np.int32)
    assert made[:1].view(np.float32)[0] == 128
    assert made[2:].view(np.float64)[0] == 64
    assert made[1:2].view(np.float16)[0] == 256


def test_sums_of_subnormals_are_flushed_in_global_memory_alone(kernels):
    source = """__global__ void entry(int *out) {
        __shared__ float here;
        float *places[2] = {(float *)out, &here};
        here = 0;
        volatile int one = 1;
        atomicAdd(&here, 1e-40f); atomicAdd(places[one], 1e-40f); atomicAdd(places[one - 1], 1e-40f);
        atomicAdd((float *)out, 1e-40f);
        out[1] = __float_as_int(here);
    }"""
    made = kernels.run(source, 1, 2).view(np.float32)
    assert made.tolist() == [0, np.float32(1e-40) * 2]


def test_threads_that_wait_for_each_other_go_on(kernels):
    """A lock that other threads of the same warp hold: whoever spins lets them run."""
    source = """__device__ int lock; __device__ int total;
    __global__ void entry(int *out) {
        while (atomicCAS(&lock, 0, 1)) { }
        int was = *(volatile int *)&total; *(volatile int *)&total = was + 1; __threadfence();
        atomicExch(&lock, 0);
        __syncthreads();
        out[0] = total;
    }"""
    assert kernels.run(source, 64, 1).tolist() == [64]


def test_functions_that_are_called_may_wait(kernels):
    source = """__device__ __noinline__ int turned(int *place, int t) { place[t] = t; __syncthreads(); return place[63 - t]; }
    __global__ void entry(int *out) { __shared__ int own[64]; out[threadIdx.x] = turned(own, threadIdx.x); }"""
    assert kernels.run(source).tolist() == [63 - t for t in range(64)]


def test_switches_jump_by_tables(kernels):
    cases = "".join(f"case {n}: value = {n * n + n}; break;" for n in range(9))
    source = f"""__global__ void entry(int *out) {{
        int t = threadIdx.x, value = -1; volatile int n = t; switch (n) {{ {cases} }} out[t] = value; }}"""
    assert kernels.run(source, 16, 16).tolist() == [t * t + t if t < 9 else -1 for t in range(16)]


def test_local_arrays_constants_and_variables(kernels):
    source = """__constant__ int table[4] = {3, 1, 4, 1}; __device__ int kept = 5;
    __global__ void entry(int *out) {
        int t = threadIdx.x, own[8];
        for (int n = 0; n < 8; ++n) own[n] = n * t;
        volatile int place = t % 8;
        out[t] = own[place] + table[t % 4] + kept;
    }"""
    assert kernels.run(source, 16, 16).tolist() == [t % 8 * t + [3, 1, 4, 1][t % 4] + 5 for t in range(16)]


def test_spaces_are_told_apart_by_their_addresses(kernels):
    source = """__global__ void entry(int *out) {
        __shared__ int shared[64]; int local[8]; int t = threadIdx.x;
        for (int n = 0; n < 8; ++n) local[n] = t + n;
        shared[t] = local[t & 7];
        void *places[3] = {out, shared, local};
        volatile int which = t % 3;
        void *place = places[which];
        out[t] = __isGlobal(place) + 2 * __isShared(place) + 4 * __isLocal(place);
    }"""
    assert kernels.run(source, 9, 9).tolist() == [1, 2, 4] * 3


def test_copies_in_the_background_are_there_after_their_wait(kernels):
    source = """__device__ int given[64];
    __global__ void entry(int *out) {
        __shared__ __align__(16) int here[64];
        int t = threadIdx.x;
        given[t] = t * t;
        __threadfence(); __syncthreads();
        if (t < 16) {
            unsigned place = (unsigned)__cvta_generic_to_shared(here + 4 * t);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(place), "l"(given + 4 * t) : "memory");
            asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        out[t] = here[63 - t];
    }"""
    assert kernels.run(source).tolist() == [(63 - t) ** 2 for t in range(64)]


COPIES = {
    "of a part": ("", ', %2;" :: "r"(place), "l"(t == 3 ? 0 : of), "r"(12 - 4 * t)', (3, 2, 1, 0)),
    "with a hint": (".L2::cache_hint", ', %2;" :: "r"(place), "l"(of), "l"(policy)', (4,) * 4),
}


@pytest.mark.parametrize("copy", COPIES)
def test_copies_in_the_background_read_what_they_copy(kernels, copy):
    modifier, operands, copied = COPIES[copy]
    source = f"""__device__ int given[16];
    __global__ void entry(int *out) {{
        __shared__ __align__(16) int here[16];
        int t = threadIdx.x; const int *of = given + 4 * t;
        unsigned long long policy = 0;
        for (int i = 0; i < 4; ++i) given[4 * t + i] = 7;
        unsigned place = (unsigned)__cvta_generic_to_shared(here + 4 * t);
        asm volatile("cp.async.cg.shared.global{modifier} [%0], [%1], 16{operands} : "memory");
        asm volatile("cp.async.wait_all;" ::: "memory");
        for (int i = 0; i < 4; ++i) out[4 * t + i] = here[4 * t + i];
    }}"""
    assert kernels.run(source, 4, 16).tolist() == [7 * (i < copied[t]) for t in range(4) for i in range(4)]


def test_copies_in_the_background_may_ignore_their_source(kernels):
    source = """__global__ void entry(int *out) {
        __shared__ int here[2];
        int t = threadIdx.x;
        out[t] = 7;
        unsigned place = (unsigned)__cvta_generic_to_shared(here + t);
        asm volatile("{ .reg .pred p; setp.eq.s32 p, %2, 1; cp.async.ca.shared.global [%0], [%1], 4, p; }"
            :: "r"(place), "l"(out + t), "r"(t) : "memory");
        asm volatile("cp.async.wait_all;" ::: "memory");
        out[t] = here[t];
    }"""
    assert kernels.run(source, 2, 2).tolist() == [7, 0]


def test_a_lane_knows_that_it_is_active_itself(kernels):
    source = "__global__ void entry(int *out) { int t = threadIdx.x; out[t] = __activemask() >> t & 1; }"
    assert kernels.run(source, 32, 32).tolist() == [1] * 32


def test_hints_change_nothing_and_uniform_loads_load(kernels):
    source = """__global__ void entry(int *out) {
        int t = threadIdx.x, value;
        out[t] = 5 * t;
        asm volatile("prefetch.global.L2 [%0];" :: "l"(out));
        asm volatile("ldu.global.s32 %0, [%1];" : "=r"(value) : "l"(out + t) : "memory");
        out[t] = value + 1;
    }"""
    assert kernels.run(source).tolist() == [5 * t + 1 for t in range(64)]


def test_printing_comes_out(emulate):
    source = r'__global__ void entry(int *out) { if (threadIdx.x == 1) printf("%d of %s: %5.2f\n", 7, "ten", 2.5f); }'
    text = f"""
import numpy as np
from ep_cuda.compiler.nvrtc import nvrtc
from bare_driver import Driver
text = nvrtc().compile('extern "C" ' + {source!r}, "program", ("--gpu-architecture=compute_90",))
Driver().run(text.rstrip(b"\\0").decode(), "entry", 1, 2, [], np.int32, (1,))
"""
    assert emulate(text).stdout == "7 of ten:  2.50\n"
