import numpy as np
import pytest
from ep_cpu.elementwise import geometry_of, loop_of
from ep_cpu.native import open_native, rows_of
from ep_primitives import Cast, ElementwiseUnary

import ep

ISAS = ("avx512", "avx2", "baseline")
WHICH = "from ep_cpu.native import open_native; print(open_native().isa)"
WHY = """
import ep
try:
    ep.device("cpu:0")
except ep.UnavailableError as error:
    print(error)
"""


def run(isa, descriptor, x):
    """Run a descriptor's loop from the table of one instruction set on a dense array."""
    native = open_native()
    native = native._replace(rows=rows_of(native.ffi, native.lib.ep_open(isa.encode())))
    loop = loop_of(descriptor.key, native)
    out = np.empty(x.shape, descriptor.out.dtype)
    native.lib.ep_launch2(geometry_of(descriptor, loop), x.ctypes.data, out.ctypes.data)
    return out


def test_isa_limit_lowers_to_baseline(fresh_python):
    assert fresh_python(WHICH, EP_CPU_ISA="baseline") == "baseline"


def test_isa_limit_is_a_ceiling(fresh_python):
    assert ISAS.index(fresh_python(WHICH, EP_CPU_ISA="avx2")) >= 1


def test_isa_unknown_is_unavailable_and_names_the_choices(fresh_python):
    said = fresh_python(WHY, EP_CPU_ISA="sse9")
    assert "EP_CPU_ISA=sse9" in said
    assert all(isa in said for isa in ISAS)


def test_isa_tables_have_the_same_rows():
    native = open_native()
    tables = [set(rows_of(native.ffi, native.lib.ep_open(isa.encode()))) for isa in ISAS]
    assert tables[0] == tables[1] == tables[2]
    assert len(tables[0]) > 100


def test_isa_missing_module_is_unavailable_and_says_how_to_build(fresh_python):
    said = fresh_python("import sys\nsys.modules['ep_cpu._native'] = None\n" + WHY)
    assert "EP_BUILD_CPU" in said


@pytest.mark.parametrize("isa", ISAS)
def test_half_widens_every_pattern(isa):
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    out = run(isa, Cast(x=ep.TensorSpec.of(x), out=ep.TensorSpec("float32", x.shape)), x)
    expected = x.astype(np.float32)
    nan = np.isnan(expected)
    assert (out[~nan].view(np.uint32) == expected[~nan].view(np.uint32)).all()
    assert np.isnan(out[nan]).all()


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_half_narrows_to_nearest_even(isa, dtype):
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16)
    exact = halves.astype(dtype)
    ties = np.append((exact[1:] + exact[:-1]) / 2, 65520.0).astype(dtype)
    x = np.concatenate([exact, ties, np.nextafter(ties, 0, dtype=dtype), np.nextafter(ties, np.inf, dtype=dtype)])
    x = np.concatenate([x, -x])
    out = run(isa, Cast(x=ep.TensorSpec.of(x), out=ep.TensorSpec("float16", x.shape)), x)
    with np.errstate(over="ignore"):
        assert (out.view(np.uint16) == x.astype(np.float16).view(np.uint16)).all()


@pytest.mark.parametrize("isa", ISAS)
def test_floor_keeps_signed_zero_and_large_values(isa):
    x = np.array([-0.0, 0.0, -0.25, 0.75, -1.0, 8388607.5, -8388607.5, 1e30, -1e30, np.inf, -np.inf], np.float32)
    out = run(isa, ElementwiseUnary.infer("floor", ep.TensorSpec.of(x)), x)
    assert (out.view(np.uint32) == np.floor(x).view(np.uint32)).all()


@pytest.mark.parametrize("isa", ISAS)
def test_denormals_are_honoured(isa):
    x = np.array([1e-310, -1e-310, 5e-324, 2e-308], np.float64)
    doubled = run(isa, ElementwiseUnary.infer("abs", ep.TensorSpec.of(x)), x)
    assert (doubled == np.abs(x)).all()
    assert np.allclose(run(isa, ElementwiseUnary.infer("log", ep.TensorSpec.of(x)), x)[[0, 2]], np.log(x[[0, 2]]))
