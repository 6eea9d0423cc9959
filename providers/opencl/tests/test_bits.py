"""The mathematics is one text: every row gives the bits that the CPU's kernels of the same class give."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest
from ep_opencl.compiler.program import PRELUDE, build_source
from ep_opencl.description import ROUNDED
from ep_simt.dialect import text

sys.path.insert(0, str(Path(__file__).parent))
from row_bits import bits

_SCRIPT = Path(__file__).with_name("row_bits.py")


@pytest.fixture(scope="module")
def isa(device):
    """Return the CPU's instruction set of the device's class: with fused multiply-adds or without."""
    source = f"#define EP_HAS_F64 1\n#define EP_WIDE 0\n{PRELUDE}{text('dialect/dialect.h')}"
    program = build_source(device.twin, source + "EP_KERNEL fuses(EP_GLOBAL ep_i32 *out) { out[0] = EP_FMA; }", "fuses")
    out = np.zeros(1, np.int32)
    queue = cl.CommandQueue(device.twin.context)
    buffer = cl.Buffer(device.twin.context, cl.mem_flags.WRITE_ONLY, out.nbytes)
    kernel = cl.Kernel(program, "fuses")
    kernel.set_args(buffer)
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
    cl.enqueue_copy(queue, out, buffer)
    return "avx2" if out[0] else "baseline"


@pytest.mark.parametrize(
    "dtype",
    [
        "bool",
        "int32",
        "float32",
        *(pytest.param(name, marks=pytest.mark.thorough) for name in ("float16", "bfloat16", "float64")),
    ],
)
def test_rows_give_the_bits_of_the_cpu(device, isa, tmp_path, dtype):
    if not {"fp64", ROUNDED} <= set(device.info.features):
        pytest.skip("some rows need float64, and correctly rounded quotients and roots")
    file = tmp_path / "cpu.npz"
    environment = {**os.environ, "EP_CPU_ISA": isa}
    subprocess.run([sys.executable, _SCRIPT, "cpu:0", dtype, file], env=environment, check=True)
    want, have = np.load(file), bits(device, dtype)
    assert have.keys() == set(want.files)
    assert len(have) >= {"bool": 15, "int32": 25}.get(dtype, 115)
    different = {
        name: int((have[name] != want[name]).sum()) for name in have if not np.array_equal(have[name], want[name])
    }
    assert not different
