"""Rows of threads that are looked at as a whole: which accesses grow evenly, and large launches, which run without further checks."""

from __future__ import annotations

import numpy as np
import pytest
from ep_cuda_emulator.lowering.affine import rows_of
from ep_cuda_emulator.ptx.instruction import statements

GRID, THREADS = 4200, 256  # more than a million threads, after which better code runs
COUNT = GRID * THREADS
ILLEGAL_ADDRESS = 700
PLACES = np.arange(COUNT)
KERNELS = {
    "in order": ("if (i < n - 77) out[i] = 3 * i;", np.where(PLACES < COUNT - 77, 3 * PLACES, 0)),
    "backwards": ("out[n - 1 - i] = i;", PLACES[::-1]),
    "by twos, with a hole": (
        "if (i < n / 2 && i % 5) out[2 * i + 1] = i;",
        (PLACES % 2) * (PLACES // 2 % 5 > 0) * (PLACES // 2),
    ),
    "vectors": (
        "if (i < n / 4) ((int4 *)out)[i] = make_int4(i, -i, 0, 1);",
        np.stack((PLACES, -PLACES, 0 * PLACES, 0 * PLACES + 1), 1)[: COUNT // 4].ravel(),
    ),
    "the same place for all": ("if (i) out[i] = out[0] + i;", PLACES),
    "read and written": ("out[i] += i; out[i] *= 2;", 2 * PLACES),
    "round the end of 32 bits": (
        "unsigned u = i - 1000u; if (u < n - 1000u) out[u] = u + 1;",
        np.where(PLACES < COUNT - 1000, PLACES + 1, 0),
    ),
    "too far apart for 32 bits": ("unsigned u = i * 65537u; if (u < n) out[u] = i;", None),
    "bytes": ("((char *)out)[i] = 5;", np.where(PLACES < COUNT // 4, 0x05050505, 0)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_large_launches(kernels, name):
    statement, wanted = KERNELS[name]
    source = f"__global__ void entry(int *out) {{ int i = blockIdx.x * {THREADS} + threadIdx.x; const int n = {COUNT}; {statement} }}"
    if wanted is None:
        wanted = np.zeros(COUNT, np.int64)
        places = PLACES * 65537 % 2**32
        wanted[places[places < COUNT]] = PLACES[places < COUNT]
    assert np.array_equal(kernels.run(source, THREADS, COUNT, grid=GRID), wanted)


@pytest.mark.parametrize("block", [(16, 4, 4), (4, 64), (7, 5, 7)])
def test_rows_of_blocks_with_several(kernels, block):
    threads = int(np.prod(block))
    source = """__global__ void entry(int *out) {
        int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), i = blockIdx.x * blockDim.x * blockDim.y * blockDim.z + t;
        out[i] = 1000 * threadIdx.z + 100 * threadIdx.y + threadIdx.x;
    }"""
    made = kernels.run(source, block, 5000 * threads, grid=5000).reshape(5000, *reversed((*block, 1)[:3]))
    _, z, y, x = np.indices(made.shape)
    assert np.array_equal(made, 1000 * z + 100 * y + x)


def test_the_thread_behind_the_end_is_named(kernels):
    source = f"__global__ void entry(int *out) {{ out[blockIdx.x * {THREADS} + threadIdx.x + 3] = 1; }}"
    codes, text = kernels.fail(source, THREADS, COUNT, GRID)
    assert codes[0] == ILLEGAL_ADDRESS
    assert f"block ({GRID - 1}, 0, 0), thread ({THREADS - 3}, 0, 0)" in text
    assert f"0 bytes behind the allocation of {4 * COUNT} bytes" in text


def test_sums_that_wrap_at_different_threads_do_not_hide_it(kernels):
    source = f"""__global__ void entry(int *out) {{
        unsigned t = threadIdx.x, u = t - 100u, v = t - 150u;
        out[blockIdx.x * {THREADS}ll + t + u - 50ll - v] = 1;
    }}"""
    codes, text = kernels.fail(source, THREADS, COUNT, GRID)
    assert codes[0] == ILLEGAL_ADDRESS
    assert "thread (100, 0, 0)" in text


def test_a_sum_that_wraps_within_a_row_is_no_row(emulate):
    """Both ends of what would be a row are allocated."""
    program = f"""
from ep_cuda.compiler.nvrtc import nvrtc
from bare_driver import Driver, DriverError
driver = Driver()
source = 'extern "C" __global__ void entry(char *out) {{ out[(int)(0x7fffff9cu + threadIdx.x)] = 1; }}'
text = nvrtc().compile(source, "program", ("--gpu-architecture=compute_90",)).rstrip(b"\\0").decode()
driver.launch(driver.function(driver.load(text), "entry"), {GRID}, {THREADS}, driver.allocate(2**31 + 4096))
try:
    driver.synchronize()
except DriverError as error:
    print(error.code)
"""
    ran = emulate(program)
    assert ran.stdout == f"{ILLEGAL_ADDRESS}\n"
    assert "thread (100, 0, 0)" in ran.stderr


HEAD = "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; ld.param.u64 %rd0, [p]; cvta.to.global.u64 %rd1, %rd0; "
STRIDES = {
    "mul.wide.u32 %rd2, %r0, 8; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f0, [%rd3+4];": [8],
    "mad.lo.s32 %r2, %r1, %r1, %r0; mad.wide.s32 %rd2, %r2, 4, %rd1; st.global.f32 [%rd2], 0f00000000;": [4],
    "cvt.u64.u32 %rd2, %r0; shl.b64 %rd3, %rd2, 4; sub.s64 %rd4, %rd1, %rd3; ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd4];": [
        -16
    ],
    "ld.global.f32 %f0, [%rd1]; ": [0],
    # Not aligned for each thread; all threads write one place; a step that nobody knows; a register that two statements write.
    "mul.wide.u32 %rd2, %r0, 2; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f0, [%rd3];": None,
    "st.global.f32 [%rd1], 0f00000000;": None,
    "mul.lo.u32 %r2, %r0, %r1; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f0, [%rd3];": None,
    "and.b32 %r2, %r0, 3; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f0, [%rd3];": None,
    "cvt.u64.u32 %rd2, %r0; @%p0 mov.u64 %rd2, 4; add.s64 %rd3, %rd1, %rd2; ld.global.u8 %r2, [%rd3];": None,
    # Two sums of 32 bits that may wrap at different threads, and would hide it from each other.
    "mul.wide.u32 %rd2, %r0, 4; mul.wide.u32 %rd3, %r0, 4; add.s64 %rd4, %rd2, %rd3; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f0, [%rd5];": None,
    # A jump is none that all threads share, even if nothing else differs between them.
    "mov.u64 %rd2, %tid.x; mul.wide.u32 %rd3, %r0, 1; sub.s64 %rd4, %rd3, %rd2; shr.u64 %rd5, %rd4, 32; add.s64 %rd6, %rd1, %rd5; ld.global.u8 %r2, [%rd6];": None,
    # Where a thread's own loop ends is not known; neither is what a function does.
    "again: mul.wide.u32 %rd2, %r0, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f0, [%rd3]; bra again;": None,
    "ld.global.f32 %f0, [%rd1]; call other, ();": None,
}


@pytest.mark.parametrize("text", STRIDES)
def test_strides_of_accesses(text):
    rows = rows_of(list(statements(HEAD + text, 1)))
    assert (rows and list(rows.strides.values())) == STRIDES[text]
