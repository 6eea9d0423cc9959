"""Reductions by groups of every size that a target may ask for, over rows of one piece and of several levels of them."""

from __future__ import annotations

import ep_simt
import numpy as np
import pytest
from ep_primitives import ArgReduce, Reduce

SHAPES = (((5, 3), 1), ((7, 300), 1), ((300, 7), 0), ((3, 40000), 1), ((40000, 3), 0), ((9, 3, 600), (0, 2)))
"""Shapes and axes: short rows, one piece, several, and columns of them, and rows of several runs."""


@pytest.fixture(params=(1, 64, *(pytest.param(size, marks=pytest.mark.thorough) for size in (2, 256))))
def launch(request, device, stream, monkeypatch):
    """Return a function that launches a descriptor by a plan for groups of one size, not of the device's own."""
    monkeypatch.setattr(device.twin, "target", device.twin.target._replace(group=request.param))

    def run(descriptor, *memories):
        portable = ep_simt.Portable()
        kernel = portable.create(descriptor, device.twin, portable.compile(descriptor.key, device.twin))
        scratch = (device.allocate(kernel.scratch_nbytes),) if kernel.scratch_nbytes else ()
        kernel.launch(stream.twin, (*memories, *scratch), ())

    return run


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_sums_of_integers_are_exact(launch, put, get, shape, axes):
    x = np.random.default_rng(1).integers(-(1 << 30), 1 << 30, shape, np.int32)
    descriptor = Reduce.infer("sum", x, axes)
    out = put(np.full(descriptor.out.shape, 9, np.int64))
    launch(descriptor, put(x), out)
    assert np.array_equal(get(out, np.int64), x.sum(axes, dtype=np.int64).ravel())


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
def test_norms_have_three_numbers_a_state(launch, put, get, shape, axes):
    x = np.random.default_rng(2).standard_normal(shape) * 1e200
    descriptor = Reduce.infer("norm_2", x, axes)
    out = put(np.zeros(descriptor.out.shape))
    launch(descriptor, put(x), out)
    np.testing.assert_allclose(get(out, np.float64), 1e200 * np.sqrt(((x / 1e200) ** 2).sum(axes)).ravel(), rtol=1e-14)


@pytest.mark.parametrize(("shape", "axis"), [each for each in SHAPES if isinstance(each[1], int)])
def test_first_of_equal_elements_is_found(launch, put, get, shape, axis):
    x = np.random.default_rng(3).integers(0, 3, shape).astype(np.uint8)
    x[0] = 0  # the last in order
    for op, find in (("max", np.argmax), ("min", np.argmin)):
        descriptor = ArgReduce.infer(op, x, axis)
        out = put(np.full(descriptor.out.shape, 9, np.int64))
        launch(descriptor, put(x), out)
        assert np.array_equal(get(out, np.int64), find(x, axis))


def test_a_row_has_the_same_bits_alone_and_among_others(launch, put, get):
    x = np.random.default_rng(4).standard_normal((300, 40000)).astype(np.float32)
    many, one = (put(np.zeros(rows, np.float32)) for rows in (300, 1))
    launch(Reduce.infer("sum", x, 1), put(x), many)
    launch(Reduce.infer("sum", x[:1], 1), put(x[:1]), one)
    assert get(many, np.float32)[0] == get(one, np.float32)[0]
