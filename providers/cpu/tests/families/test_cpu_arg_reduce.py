import numpy as np
import pytest
from ep_primitives import ArgReduce

RNG = np.random.default_rng(5)
SHAPES = [(), (5,), (129,), (70001,), (3, 4), (300, 5), (5, 300), (40, 31, 60), (2, 3, 1, 4, 2), (2000, 600)]
FIND = {"max": np.argmax, "min": np.argmin}


def found(stream, op, x, axis=None, **more):
    """Return ArgReduce of an array, over an output full of -7."""
    descriptor = ArgReduce.infer(op, x, axis, **more)
    out = np.full(descriptor.out.shape, -7, descriptor.out.dtype)
    descriptor.on(stream.device)(stream, x=x, out=out)
    return out


@pytest.mark.parametrize("op", FIND)
@pytest.mark.parametrize("shape", SHAPES)
def test_first_of_ties_over_any_axis(stream, shape, op):
    for high in (2, 50, 1 << 30):
        x = RNG.integers(-high, high, shape).astype(np.float32)
        for axis in (None, *range(len(shape))):
            for dtype in ("int32", "int64"):
                assert np.array_equal(found(stream, op, x, axis, dtype=dtype), FIND[op](x, axis=axis)), (axis, dtype)


@pytest.mark.parametrize("op", FIND)
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_each_place_of_rows_about_as_long_as_vectors_is_found(stream, op, dtype):
    for n in (32, 33, 63, 65, 127, 129, 255, 257, 511, 513):
        x = np.eye(n, dtype=dtype)
        assert np.array_equal(found(stream, op, x if op == "max" else -x, 1), np.arange(n)), n


@pytest.mark.parametrize("op", FIND)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64"])
def test_strides_of_every_kind_keep_the_order(stream, op, dtype):
    whole = RNG.integers(0, 3, (41, 300)).astype(dtype)
    for x in (whole, whole.T, whole[::-2, ::-1], whole[:, ::7], whole[:, 1:66]):
        for axis in (None, 0, 1):
            assert np.array_equal(found(stream, op, x, axis), FIND[op](x, axis=axis))


@pytest.mark.parametrize("op", FIND)
def test_first_nan_wins_and_zeros_are_equal(stream, op):
    for nan in (np.nan, -np.nan):
        x = np.zeros((4, 5000), np.float32)
        x[0, [4000, 4500]] = nan
        x[1, ::2] = -0.0
        x[2, 77] = np.inf if op == "max" else -np.inf
        x[3] = -np.inf if op == "max" else np.inf
        for array, axis in ((x, 1), (x.T, 0)):
            assert found(stream, op, array, axis).tolist() == [4000, 0, 77, 0]
