"""A quick look against NumPy; what each op promises is conformance's business."""

import numpy as np
import pytest
from ep_primitives import BroadcastBinary, Cast, ElementwiseUnary

import ep

UNARY = {"abs": np.abs, "negative": np.negative, "floor": np.floor, "sqrt": np.sqrt, "exp": np.exp, "tanh": np.tanh}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum}
DTYPES = ["float16", "float32", "float64"]


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


def test_integer_division_truncates_and_never_traps(device, stream):
    a = np.array([7, -7, 5, -(2**31), 2**31 - 1, -(2**31)], np.int32)
    b = np.array([2, 2, 0, -1, -1, 0], np.int32)
    out = np.empty_like(a)
    BroadcastBinary.infer("div", ep.TensorSpec.of(a), ep.TensorSpec.of(b)).on(device)(stream, a=a, b=b, out=out)
    assert out.tolist() == [3, -3, 0, -(2**31), -(2**31 - 1), 0]


def test_cast_to_integer_saturates(device, stream):
    x = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, 2147483520.0, -2147483648.0, -1.9], np.float32)
    out = np.empty(x.shape, np.int32)
    Cast(x=ep.TensorSpec.of(x), out=ep.TensorSpec.of(out)).on(device)(stream, x=x, out=out)
    top = 2**31
    assert out.tolist() == [0, top - 1, -top, top - 1, -top, 2147483520, -top, -1]


def test_every_cell_of_the_families_has_a_row(device):
    table = device.provider.implementations
    for family in ep.families().values():
        for cell in family.cells():
            descriptor = family.sample(cell)
            assert any(row.accepts(descriptor, device.info) for row in table[family.descriptor]), str(cell)
