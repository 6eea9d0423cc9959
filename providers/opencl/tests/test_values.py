"""A sweep over every op, type and family against NumPy's own arithmetic; the conformance suite goes deeper."""

from __future__ import annotations

import numpy as np
import pytest
from ep_opencl.description import ROUNDED
from ep_primitives import BroadcastBinary, Cast, Copy, ElementwiseUnary, Fill
from ep_simt.elementwise.rows import rows

import ep

_DTYPES = {"FLOATING": ("float16", "float32", "float64"), "INTEGER": ("int32",), "BOOLEAN": ("bool",)}
_BACKWARD = {
    "elu_backward_with_dy_x": lambda a, b: np.where(b > 0, a, a * 0.5 * np.exp(b)),
    "tanh_backward_with_dy_y": lambda a, b: a * (1 - b) * (1 + b),
}
_UNARY = {
    "elu": lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)),
    "relu": lambda x: np.where(x <= 0, x * 0, x),
    "is_nan": np.isnan,
    "bitwise_not": np.invert,
    "logical_not": np.logical_not,
}
_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "equal": np.equal,
    "less_than": np.less,
    "bitwise_and": np.bitwise_and,
}


def _gelu(x, scale=1):
    from scipy.special import erfc

    return 0.5 * x * erfc(-x / np.sqrt(2)) * scale


def _gelu_slope(a, b):
    from scipy.special import erfc

    return a * (0.5 * erfc(-b / np.sqrt(2)) + b * np.exp(-0.5 * b * b) / np.sqrt(2 * np.pi))


def _cases(family):
    return [(row.op, dtype, row.attributes) for row in rows(family) for dtype in _DTYPES[row.kind]]


def _array(dtype, size=4099, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, size).astype(bool)
    if dtype == "int32":
        return rng.integers(-(2**31), 2**31 - 1, size, np.int32)
    return rng.uniform(-4, 4, size).astype(dtype)


def _check(out, want, dtype):
    if not np.issubdtype(out.dtype, np.floating):
        assert np.array_equal(out, want)
        return
    eps = {"float16": 2e-3, "float32": 2e-6, "float64": 4e-15}[dtype]
    np.testing.assert_allclose(out.astype(np.float64), want, rtol=eps, atol=eps)


def _is_refused(device, descriptor):
    """Say whether the device may refuse the descriptor, and check that it does, with the reason."""
    rounds = (
        descriptor.op not in {"div", "sqrt"} or descriptor.out.dtype != "float32" or ROUNDED in device.info.features
    )
    if not rounds:
        with pytest.raises(ep.UnsupportedError, match=f"does not round {descriptor.op} of float32 correctly"):
            descriptor.on(device)
    return not rounds


@pytest.mark.parametrize(("op", "dtype", "attributes"), _cases("elementwise_unary"))
def test_unary_op_matches_numpy(device, stream, put, get, op, dtype, attributes):
    x = _array(dtype)
    x = np.abs(x) if op in {"log", "sqrt"} else x
    descriptor = ElementwiseUnary.infer(op, ep.TensorSpec(dtype, x.shape), **({"alpha": 0.5} if attributes else {}))
    if _is_refused(device, descriptor):
        return
    out = device.allocate(descriptor.out.nbytes)
    descriptor.on(device)(stream, x=put(x), out=out)
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    with np.errstate(over="ignore"):
        want = _gelu(wide) if op == "gelu" else _UNARY.get(op, getattr(np, op, None))(wide)
    _check(get(out, descriptor.out.dtype), want, dtype)


@pytest.mark.parametrize(("op", "dtype", "attributes"), _cases("broadcast_binary"))
def test_binary_op_matches_numpy(device, stream, put, get, op, dtype, attributes):
    a, b = _array(dtype, 7 * 64, 1).reshape(7, 1, 64), _array(dtype, 5 * 64, 2).reshape(5, 64)
    specs = ep.TensorSpec(dtype, a.shape), ep.TensorSpec(dtype, b.shape)
    descriptor = BroadcastBinary.infer(op, *specs, **({"alpha": 0.5} if attributes else {}))
    if _is_refused(device, descriptor):
        return
    out = device.allocate(descriptor.out.nbytes)
    descriptor.on(device)(stream, a=put(a), b=put(b), out=out)
    left, right = (each.astype(np.float64) if dtype.startswith("float") else each for each in (a, b))
    if op == "div":
        want = left / right if dtype.startswith("float") else np.trunc(left / right).astype(np.int32)
    elif op == "gelu_backward_with_dy_x":
        want = _gelu_slope(left, right)
    else:
        want = {**_BINARY, **_BACKWARD}[op](left, right)
    _check(get(out, descriptor.out.dtype), want.ravel(), dtype)


@pytest.mark.parametrize("target", ["bool", "int32", "float16", "float32", "float64"])
@pytest.mark.parametrize("source", ["bool", "int32", "float16", "float32", "float64"])
def test_cast_matches_numpy_where_numpy_is_defined(device, stream, put, get, source, target):
    x = _array(source)
    x = x // 65536 if source == "int32" else x
    descriptor = Cast(x=ep.TensorSpec(source, x.shape), out=ep.TensorSpec(target, x.shape))
    out = device.allocate(descriptor.out.nbytes)
    descriptor.on(device)(stream, x=put(x), out=out)
    assert np.array_equal(get(out, target), x.astype(target))


def test_double_rounds_to_half_once(device, stream, put, get):
    # Just above the middle of two halves, by less than a float32 can tell: through float32 it would go down to even.
    x = np.array(
        [1 + 2**-11 + 2**-40, 1 + 2**-11, 1 + 2**-11 - 2**-40, 65520 - 2**-20, 65520, 2**-25 * (1 + 2**-30), 2**-25]
    )
    descriptor = Cast(x=ep.TensorSpec("float64", x.shape), out=ep.TensorSpec("float16", x.shape))
    out = device.allocate(descriptor.out.nbytes)
    descriptor.on(device)(stream, x=put(x), out=out)
    with np.errstate(over="ignore"):
        assert np.array_equal(get(out, "float16"), x.astype(np.float16))


def test_floats_saturate_as_integers_and_a_nan_is_zero(device, stream, put, get):
    x = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, 2147483520, -2147483648, 1.9, -1.9], np.float32)
    descriptor = Cast(x=ep.TensorSpec("float32", x.shape), out=ep.TensorSpec("int32", x.shape))
    out = device.allocate(descriptor.out.nbytes)
    descriptor.on(device)(stream, x=put(x), out=out)
    top, bottom = 2**31 - 1, -(2**31)
    assert get(out, "int32").tolist() == [0, top, bottom, top, bottom, 2147483520, bottom, 1, -1]


def test_fill_and_copy_reach_every_other_element_alone(device, stream, get):
    spec = ep.TensorSpec("int32", (5, 7), (28, 2), 1)
    memory, other = device.allocate(4 * 140), device.allocate(4 * 140)
    for each in (memory, other):
        stream.fill(each, bytes(4))
    Fill(value=ep.Scalar("int32"), out=spec).on(device)(stream, value=-9, out=memory)
    Copy(x=spec, out=spec).on(device)(stream, x=memory, out=other)
    want = np.zeros(140, np.int32)
    want.reshape(5, 28)[:, 1:15:2] = -9
    assert np.array_equal(get(memory, "int32"), want)
    assert np.array_equal(get(other, "int32"), want)
