"""Bugs that are planted in kernels and in what launches them: each is reported with its place, and the context keeps its code."""

from __future__ import annotations

import re

import pytest

HEAD = """
import ctypes, sys, numpy as np
from ep_cuda.compiler.nvrtc import nvrtc
from bare_driver import Driver, DriverError
driver = Driver()
def kernel(source):
    text = nvrtc().compile('extern "C" {' + source + "}", "program", ("--gpu-architecture=compute_90",))
    return driver.function(driver.load(text.rstrip(b"\\0").decode()), "entry")
def attempt(work):
    try:
        work()
        driver.synchronize()
    except DriverError as error:
        print(error.code)
"""
ILLEGAL_ADDRESS, MISALIGNED, FAILED, TIMEOUT, ILLEGAL_INSTRUCTION, ASSERT = 700, 716, 719, 702, 715, 710

BUGS = {
    "a write behind the allocation": (
        "__global__ void entry(int *out) { out[threadIdx.x + 200] = 1; }",
        ILLEGAL_ADDRESS,
        "writes 4 bytes at 0x[0-9a-f]+, 0 bytes behind the allocation of 1024 bytes",
    ),
    "a read in front of it": (
        "__global__ void entry(int *out) { if (threadIdx.x == 3) out[0] = out[-1]; }",
        ILLEGAL_ADDRESS,
        "reads 4 bytes at 0x[0-9a-f]+, (where nothing was ever allocated|508 bytes behind)",
    ),
    "an address that is none": (
        "__global__ void entry(int *out) { *(int *)(threadIdx.x * 4ull) = 1; }",
        ILLEGAL_ADDRESS,
        "writes 4 bytes at (0x[0-9a-f]+|0), which is no address",
    ),
    "a vector that is not aligned": (
        "__global__ void entry(int *out) { *(float4 *)(out + 1) = make_float4(1, 2, 3, 4); }",
        MISALIGNED,
        "an access of 16 bytes at 0x[0-9a-f]+, which is no multiple",
    ),
    "a shared array that is too small": (
        "__global__ void entry(int *out) { __shared__ int a[32]; a[threadIdx.x] = 1; __syncthreads(); out[0] = a[0]; }",
        ILLEGAL_ADDRESS,
        "writes 4 bytes at [0-9]+ of shared memory, which has 128",
    ),
    "a barrier that is missing": (
        "__global__ void entry(int *out) { __shared__ int a[64]; int t = threadIdx.x; a[t] = t; out[t] = a[63 - t]; }",
        FAILED,
        "a race: (reads|writes) byte [0-9]+ of shared memory, which thread .* (wrote|read) since the last barrier",
    ),
    "an atomic sum before its zero": (
        "__global__ void entry(int *out) { __shared__ int sum; if (threadIdx.x == 40) sum = 0; atomicAdd(&sum, 1); __syncthreads(); out[0] = sum; }",
        FAILED,
        "a race: writes byte 0 of shared memory, which thread .* wrote since the last barrier",
    ),
    "an atomic sum that is read too early": (
        "__global__ void entry(int *out) { __shared__ int sum; if (!threadIdx.x) sum = 0; __syncthreads(); atomicAdd(&sum, 1); out[threadIdx.x] = sum; }",
        FAILED,
        "a race: (reads|writes) byte 0 of shared memory, which thread .* (wrote|read) since the last barrier",
    ),
    "a return before a barrier": (
        "__global__ void entry(int *out) { if (threadIdx.x == 9) return; __syncthreads(); out[0] = 1; }",
        FAILED,
        "the block makes no progress: 63 threads wait at barrier 0 at line [0-9]+, 1 have returned",
    ),
    "a barrier in a branch": (
        "__global__ void entry(int *out) { if (threadIdx.x & 1) { __syncthreads(); out[0] = 1; } else { __syncthreads(); out[1] = 2; } }",
        FAILED,
        "threads of one warp are at different barriers, the other at line [0-9]+",
    ),
    "a shuffle in a branch": (
        "__global__ void entry(int *out) { int t = threadIdx.x; if (t < 16) out[t] = __shfl_sync(~0u, t, 1); __syncthreads(); }",
        FAILED,
        "the block makes no progress: .*16 threads wait for lanes of their warp at line [0-9]+",
    ),
    "a shuffle of a lane that is absent": (
        "__global__ void entry(int *out) { int t = threadIdx.x; if (t < 16) out[t] = __shfl_sync(0xffff, t, 20); }",
        FAILED,
        "a shuffle reads lane 20, which does not take part",
    ),
    "a mask without the lane itself": (
        "__global__ void entry(int *out) { out[0] = __ballot_sync(2, 1); }",
        FAILED,
        "the mask of an exchange leaves out the lane that calls it",
    ),
    "a lock that nobody opens": (
        "__device__ int lock = 1; __global__ void entry(int *out) { while (atomicCAS(&lock, 0, 1)) { } out[0] = 1; }",
        TIMEOUT,
        "the block makes no progress: 64 threads go round at line [0-9]+",
    ),
    "a copy of more than its size": (
        """__global__ void entry(int *out) { __shared__ int a[8]; unsigned place = (unsigned)__cvta_generic_to_shared(a);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(place), "l"(out), "r"(16) : "memory"); }""",
        FAILED,
        "cp.async of 4 bytes is asked for 16",
    ),
    "a trap": ("__global__ void entry(int *out) { if (threadIdx.x == 63) __trap(); }", ILLEGAL_INSTRUCTION, "trap"),
    "an assertion": (
        """__device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
        __global__ void entry(int *out) { if (threadIdx.x > 60) __assertfail("x < 60", "program.cu", 7, "entry", 1); }""",
        ASSERT,
        "assertion `x < 60` of entry failed, program.cu:7",
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_bug_of_a_kernel_is_reported(kernels, bug):
    source, code, report = BUGS[bug]
    codes, said = kernels.fail(source)
    assert codes == [code] * 2, said  # the second call finds the context broken
    first, *more = said.splitlines()
    assert not more
    place = r"emulated CUDA: kernel entry, block \(0, 0, 0\), thread \(\d+, 0, 0\)"
    assert re.fullmatch(rf"{place}.*(?:{report}).*", first), first


def test_lost_sum_is_seen(kernels):
    """A sum without an atomic operation: threads take turns wherever they wait, and here they do between read and write."""
    source = "__global__ void entry(int *out) { int old = *(volatile int *)out; __nanosleep(1); *(volatile int *)out = old + 1; }"
    assert kernels.run(source)[0] < 64


PROGRAMS = {
    "use after free": (
        """
work = kernel("__global__ void entry(int *out) { out[threadIdx.x] = 1; }")
place = driver.allocate(256)
driver.free(place)
attempt(lambda: driver.launch(work, 1, 1, place))
""",
        "700",
        "in the allocation of 256 bytes at 0x[0-9a-f]+, which was freed",
    ),
    "a grid that is too large by one": (
        """
work = kernel("__global__ void entry(int *out) { out[blockIdx.x * 64 + threadIdx.x] = 1; }")
attempt(lambda: driver.launch(work, 5, 64, driver.allocate(1024)))
""",
        "700",
        r"block \(4, 0, 0\), thread \(0, 0, 0\), line \d+ of the PTX: writes 4 bytes at 0x[0-9a-f]+, 0 bytes behind",
    ),
    "memory of the host": (
        """
work = kernel("__global__ void entry(int *out) { out[threadIdx.x] = 1; }")
array = np.zeros(64, np.int32)
attempt(lambda: driver.launch(work, 1, 1, array.ctypes.data))
""",
        "700",
        "which is memory of the host that the driver does not know",
    ),
    "sizes that wrap around": (
        """
a = ctypes.c_uint64(driver.allocate(64))
b, most, words = ctypes.c_uint64(a.value + 8), ctypes.c_size_t((1 << 64) - 8), ctypes.c_size_t((1 << 62))
print(driver.library.cuMemcpyDtoD_v2(b, a, most) + driver.library.cuMemsetD32_v2(a, ctypes.c_uint(1), words))
""",
        "2",
        "",
    ),
    "a copy behind an allocation": ("attempt(lambda: driver.download(driver.allocate(64), (17,), np.int32))", "1", ""),
    "a block that is too large": (
        """
work = kernel("__global__ void entry(int *out) { }")
attempt(lambda: driver.launch(work, 1, 1025, 0))
""",
        "1",
        "",
    ),
}


@pytest.mark.parametrize("bug", PROGRAMS)
def test_bug_of_a_program_is_reported(emulate, bug):
    text, code, report = PROGRAMS[bug]
    done = emulate(HEAD + text)
    assert done.stdout.split() == [code], done.stderr
    assert re.search(report, done.stderr)
    assert done.stderr.count("\n") == bool(report)


def test_wrong_stream_is_seen(emulate):
    """Work of two streams has no order: a copy reads before the kernel of the other has written."""
    done = emulate(
        HEAD
        + """
work = kernel("__global__ void entry(int *out) { out[threadIdx.x] = 1; }")
streams = [driver.answer("cuStreamCreate", 1) for _ in range(2)]
place, back = driver.allocate(4 << 10), driver.answer("cuMemHostAlloc", ctypes.c_size_t(4 << 10), 0)
driver.call("cuMemsetD8_v2", ctypes.c_uint64(place), 0, ctypes.c_size_t(4 << 10))
gate = driver.answer("cuMemHostAlloc", ctypes.c_size_t(4), 0)
ctypes.memset(gate, 0, 4)  # the kernel is late, however busy the machine is
driver.call("cuStreamWaitValue32_v2", ctypes.c_uint64(streams[0]), ctypes.c_uint64(gate), 1, 0)
driver.launch(work, 1, 1024, place, stream=streams[0])
driver.call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(back), ctypes.c_uint64(place), ctypes.c_size_t(4 << 10), ctypes.c_uint64(streams[1]))
driver.call("cuStreamSynchronize", ctypes.c_uint64(streams[1]))
print(sum((ctypes.c_int * 1024).from_address(back)))
ctypes.c_uint32.from_address(gate).value = 1
driver.synchronize()
print(driver.download(place, (1024,), np.int32).sum())
"""
    )
    assert done.stdout.split() == ["0", "1024"], done.stderr


@pytest.mark.parametrize("last", ["out[0] = out[threadIdx.x + 3]", "atomicAdd(out + 3, 1)"])
def test_unwritten_memory_is_reported_on_request(emulate, last):
    text = """
work = kernel("__global__ void entry(int *out) { *(volatile int *)(out + 1) = 1; out[2] = *(volatile int *)(out + 1); LAST; }")
attempt(lambda: driver.launch(work, 1, 1, driver.allocate(64)))
"""
    assert emulate(HEAD + text.replace("LAST", last)).stdout == ""
    assert emulate(HEAD + text.replace("LAST", ""), EP_CUDA_EMULATOR_UNWRITTEN="1").stdout == ""
    done = emulate(HEAD + text.replace("LAST", last), EP_CUDA_EMULATOR_UNWRITTEN="1")
    assert done.stdout.split() == ["700"]
    assert "which nothing has written" in done.stderr


def test_host_cannot_touch_memory_of_the_device(emulate):
    done = emulate(HEAD + "ctypes.c_int.from_address(driver.allocate(64)).value")
    assert done.returncode == -11
