"""A quick look against NumPy; conformance tries the promises of each op."""

import pkgutil
from pathlib import Path

import ep_cpu.families
import numpy as np
import pytest
from ep.plugin.capabilities import how
from ep_cpu.implementations import IMPLEMENTATIONS
from ep_cpu.native import open_native
from ep_primitives import Attention, BatchNorm, BroadcastBinary, Convolution, ElementwiseUnary, Pool

import ep

NATIVE = Path(__file__).parents[1] / "native"
UNARY = {"abs": np.abs, "negative": np.negative, "floor": np.floor, "sqrt": np.sqrt, "exp": np.exp, "tanh": np.tanh}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum}
DTYPES = ["float16", "float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", UNARY)
def test_unary_agrees_with_numpy(device, stream, op, dtype):
    x = np.abs(np.random.default_rng(0).standard_normal((17, 33))).astype(dtype)[:, ::-1]
    out = np.empty((17, 33), dtype)
    ElementwiseUnary(op, x=ep.TensorSpec.of(x), out=ep.TensorSpec.of(out)).on(device)(stream, x=x, out=out)
    np.testing.assert_allclose(out, UNARY[op](x), rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", BINARY)
def test_binary_broadcasts_like_numpy(device, stream, op, dtype):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((9, 1, 7)).astype(dtype), rng.standard_normal((65, 1)).astype(dtype)
    out = np.empty((9, 65, 7), dtype)
    BroadcastBinary.infer(op, ep.TensorSpec.of(a), ep.TensorSpec.of(b)).on(device)(stream, a=a, b=b, out=out)
    assert (out == BINARY[op](a, b)).all()


def divided(a, b):
    """Return quotient and remainder towards zero, then downwards, of Python's integers; x / 0 = 0, x mod 0 = x."""
    if b == 0:
        return 0, a, 0, a
    below = a // b
    truncated = below if a - below * b == 0 or (a < 0) == (b < 0) else below + 1
    return truncated, a - truncated * b, below, a - below * b


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division_wraps_and_never_traps(device, stream, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    values = sorted({low, low + 1, low // 2, high, high - 1, high // 3, 0, 1, 2, 3, 7, *((-1, -2, -7) if low else ())})
    pairs = [(a, b) for a in values for b in values] * 5
    a, b = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    spec, out = ep.TensorSpec.of(a), np.empty_like(a)
    expected = list(zip(*(divided(*pair) for pair in pairs), strict=True))
    for op, column in {"div": 0, "trunc_div": 0, "fmod": 1, "floor_div": 2, "floor_mod": 3}.items():
        BroadcastBinary.infer(op, spec, spec).on(device)(stream, a=a, b=b, out=out)
        assert (out == np.array([wrapped(value, dtype) for value in expected[column]], dtype)).all(), op


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_power_wraps(device, stream, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    bases, exponents = {0, 1, 2, 3, 7, high, low, *((-1, -2) if low else ())}, {0, 1, 2, 5, 31, 100, high}
    inverse = {1: lambda n: 1, -1: lambda n: 1 - 2 * (n % 2)}
    pairs = [(a, b) for a in bases for b in (exponents | ({-1, -2, low} if low else set()))]
    expected = [pow(a, b, 2**64) if b >= 0 else inverse.get(a, lambda n: 0)(b) for a, b in pairs]
    a, b = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    spec, out = ep.TensorSpec.of(a), np.empty_like(a)
    BroadcastBinary.infer("pow", spec, spec).on(device)(stream, a=a, b=b, out=out)
    assert out.tolist() == [wrapped(value, dtype) for value in expected]


def wrapped(value, dtype):
    info = np.iinfo(dtype)
    return (value - info.min) % 2**info.bits + info.min


def test_every_cell_of_the_families_has_a_kernel(device):
    partial = (Attention, BatchNorm, Convolution, Pool)  # whose kernels leave some shapes to stages
    for family in ep.families().values():
        is_native = family.descriptor in device.provider.implementations
        needed = {"native", "lowered"} if family.descriptor in partial else {"native" if is_native else "lowered"}
        for cell in family.cells():
            assert how(device, family, cell) in needed, str(cell)


def test_files_of_families_are_named_as_their_native_folders():
    folders = {path.parent.name for path in NATIVE.glob("families/*/CMakeLists.txt")}
    assert {module.name for module in pkgutil.iter_modules(ep_cpu.families.__path__)} <= folders


def test_every_kernel_belongs_to_a_cell():
    named = set()
    for family in ep.families().values():
        for cell in family.cells():
            descriptor = family.sample(cell)
            named |= {each.row(descriptor) for each in IMPLEMENTATIONS.get(type(descriptor), ())}
    assert set(open_native().rows) <= named
