import numpy as np
import pytest
from ep_primitives import ArgReduce

RNG = np.random.default_rng(5)
SHAPES = [(), (5,), (129,), (70001,), (3, 4), (300, 5), (5, 300), (40, 31, 60), (2, 3, 1, 4, 2), (2000, 600)]
FIND = {"max": np.argmax, "min": np.argmin}


def found(stream, op, x, axis=None, **more):
    """Return what ArgReduce makes of an array, over an output full of -7."""
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
