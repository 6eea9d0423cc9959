"""Elementwise kernels whose inputs are contiguous along another dimension than the output."""

import itertools

import numpy as np
import pytest
from ep_primitives import BroadcastBinary, Cast, ElementwiseUnary, Where

import ep

SHAPES = [(130, 129), (8, 4000), (2100, 9), (3, 70, 150), (2, 3, 64, 128)]
"""Tiles are of 128 columns and of 16 to 128 rows: there are whole ones, parts of both, and more dimensions."""
ORDERS = {2: [(1, 0)], 3: [(0, 2, 1), (2, 0, 1), (1, 2, 0)], 4: [(0, 2, 3, 1), (0, 3, 1, 2), (3, 2, 1, 0)]}
CASES = [(shape, order) for shape in SHAPES for order in ORDERS[len(shape)]]


def numbers(shape, dtype, seed):
    return np.random.default_rng(seed).integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)


def laid(array, order):
    """Return the array with its elements in memory in the order of these dimensions."""
    return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))


def launched(stream, descriptor, out, **inputs):
    """Launch into a box of a larger array, in the order in which `out` lies, and return it; what is around it stays."""
    order = np.argsort([-stride for stride in out.strides], kind="stable")
    whole = np.full([out.shape[axis] + 2 for axis in order], 1, out.dtype)
    box = whole.transpose(np.argsort(order))[(slice(1, -1),) * out.ndim]
    specs = {name: ep.TensorSpec.of(array) for name, array in inputs.items()}
    descriptor(specs, ep.TensorSpec.of(box)).on(stream.device)(stream, out=box, **inputs)
    result = box.copy()
    box[...] = 1
    assert (whole == 1).all()
    return result


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize(("shape", "order"), CASES)
def test_one_input_crosses(stream, shape, order, dtype):
    x = numbers(shape, dtype, 1)
    for given, out in ((laid(x, order), x), (x, laid(x, order)), (laid(x, order)[::-1], x)):
        negated = launched(stream, lambda of, box: ElementwiseUnary.infer("negative", of["x"], out=box), out, x=given)
        assert np.array_equal(negated, -given)


@pytest.mark.parametrize("dtype", ["int16", "float32", "int64"])
@pytest.mark.parametrize(("shape", "order"), CASES)
def test_some_of_two_inputs_cross(stream, shape, order, dtype):
    x, y = numbers(shape, dtype, 1), numbers(shape, dtype, 2)
    row, column = y[(0,) * (y.ndim - 1)], y[..., :1]
    for a, b in itertools.product((x, laid(x, order)), (y, laid(y, order), row, column)):
        added = launched(stream, lambda of, box: BroadcastBinary.infer("add", of["a"], of["b"], out=box), x, a=a, b=b)
        assert np.array_equal(added, a + b)


@pytest.mark.parametrize(
    ("given", "made"), [("float32", "int8"), ("int8", "float64"), ("float64", "float32"), ("bool", "int64")]
)
@pytest.mark.parametrize(("shape", "order"), CASES)
def test_input_of_a_cast_crosses(stream, shape, order, given, made):
    x = numbers(shape, given, 1)
    cast = launched(stream, lambda of, box: Cast.infer(of["x"], made, out=box), x.astype(made), x=laid(x, order))
    assert np.array_equal(cast, x.astype(made))


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
@pytest.mark.parametrize(("shape", "order"), CASES)
def test_any_of_three_inputs_cross(stream, shape, order, dtype):
    condition, x, y = numbers(shape, "bool", 1), numbers(shape, dtype, 2), numbers(shape, dtype, 3)
    for crosses in itertools.product((False, True), repeat=3):
        c, a, b = (laid(each, order) if turns else each for each, turns in zip((condition, x, y), crosses, strict=True))
        chosen = launched(
            stream, lambda of, box: Where.infer(of["condition"], of["a"], of["b"], out=box), x, condition=c, a=a, b=b
        )
        assert np.array_equal(chosen, np.where(c, a, b))


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_number_beside_an_input_that_crosses(stream, dtype):
    x = numbers((150, 200), dtype, 1)
    number = ep.Scalar(dtype)
    out = np.empty_like(x)
    descriptor = BroadcastBinary.infer("sub", number, ep.TensorSpec.of(laid(x, (1, 0))), out=ep.TensorSpec.of(out))
    descriptor.on(stream.device)(stream, a=7, b=laid(x, (1, 0)), out=out)
    assert np.array_equal(out, 7 - x)
