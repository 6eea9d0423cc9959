import itertools

import numpy as np
import pytest
from ep_primitives import Reduce
from ep_primitives.reference import array_dtype

RNG = np.random.default_rng(7)
SHAPES = [(), (5,), (129,), (70000,), (3, 4), (300, 5), (5, 300), (40, 31, 60), (2, 3, 1, 4, 2)]
EXACT = {"sum": np.sum, "max": np.max, "min": np.min, "any": np.any, "all": np.all}


def reduced(stream, op, x, axes=None, **more):
    """Return what Reduce makes of an array, over an output full of sevens."""
    descriptor = Reduce.infer(op, x, axes, **more)
    out = np.full(descriptor.out.shape, 7).astype(array_dtype(descriptor.out.dtype))
    descriptor.on(stream.device)(stream, x=x, out=out)
    return out


@pytest.mark.parametrize("op", EXACT)
@pytest.mark.parametrize("shape", SHAPES)
def test_small_integers_are_reduced_exactly_over_any_axes(stream, shape, op):
    x = RNG.integers(-3, 4, shape).astype(np.float32)
    for count in range(len(shape) + 1):
        for axes in itertools.combinations(range(len(shape)), count):
            assert np.array_equal(reduced(stream, op, x, axes), EXACT[op](x, axis=axes)), axes
