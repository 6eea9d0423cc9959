"""Pool: its descriptors, messages, stages, and its definition against windows one by one."""

import math
import pickle

import numpy as np
import pytest
from ep_primitives import BroadcastBinary, Cast, Fill, Pad, Pool, Reduce
from ep_primitives.families.pool.family import PoolFamily

from ep import TensorSpec

FAMILY = PoolFamily()
X = TensorSpec("float32", (2, 3, 9, 10))


def value(op, x, window, **more):
    """Return the reference's result for a float64 array."""
    return FAMILY.reference(Pool.infer(op, x, window, **more), {"x": x}).value


def kinds(op, *given, **more):
    return [type(stage.descriptor) for stage in Pool.infer(op, *given, **more).lower()]


@pytest.mark.parametrize(
    ("op", "function"),
    [("max", max), ("average", lambda row: math.fsum(row) / len(row)), ("norm_2", lambda row: math.hypot(*row))],
)
def test_definition_is_that_of_windows_one_by_one(op, function):
    x = np.random.default_rng(3).standard_normal((2, 2, 5, 6))
    strides, dilations, before = (2, 3), (2, 1), (1, 1)
    descriptor = Pool.infer(op, x, (3, 2), strides=strides, dilations=dilations, pads=(*before, 2, 0), ceil=True)
    wanted = np.empty(descriptor.out.shape)
    for n, c, *o in np.ndindex(*wanted.shape):
        rows, columns = (
            [place for k in range(extent) if 0 <= (place := i * stride + k * step - first) < end]
            for i, extent, stride, step, first, end in zip(o, (3, 2), strides, dilations, before, (5, 6), strict=True)
        )
        wanted[(n, c, *o)] = function([x[n, c, i, j] for i in rows for j in columns])
    np.testing.assert_allclose(FAMILY.reference(descriptor, {"x": x}).value, wanted, rtol=1e-14)


def test_what_averages_divide_by():
    x = np.ones((1, 1, 4))
    np.testing.assert_array_equal(value("average", x, 3, pads=1), [[[1, 1, 1, 1]]])
    np.testing.assert_allclose(value("average", x, 3, pads=1, counts_pads=True), [[[2 / 3, 1, 1, 2 / 3]]])
    np.testing.assert_allclose(value("average", x, 3, strides=2, pads=(2, 0), counts_pads=True), [[[1 / 3, 1]]])
    np.testing.assert_allclose(
        value("average", x, 3, strides=2, pads=(2, 0), counts_pads=True, ceil=True), [[[1 / 3, 1, 1]]]
    )


def test_windows_without_elements():
    x = np.ones((1, 1, 1))
    with np.errstate(all="ignore"):
        assert value("max", x, 1, pads=1).tolist() == [[[-math.inf, 1, -math.inf]]]
        np.testing.assert_array_equal(value("average", x, 1, pads=1), [[[math.nan, 1, math.nan]]])
    assert value("max", np.ones((1, 1, 1), np.int16), 1, pads=1).tolist() == [[[-(2**15), 1, -(2**15)]]]
    assert value("norm_2", x, 1, pads=1).tolist() == [[[0, 1, 0]]]


def test_one_number_stands_for_all_dimensions():
    one = Pool.infer("average", X, 3, strides=2, pads=1, counts_pads=True)
    assert one == Pool("average", x=X, y=one.out, window=(3, 3), strides=[2, 2], pads=(1, 1, 1, 1), counts_pads=True)
    assert (one.window, one.strides, one.dilations, one.pads) == ((3, 3), (2, 2), (1, 1), (1, 1, 1, 1))
    assert one.counts_pads
    assert one.out.shape == (2, 3, 5, 5)
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(one).endswith("pads=(1, 1, 1, 1), counts_pads=True)")


@pytest.mark.parametrize(
    ("extent", "window", "strides", "pads", "floor", "ceil"),
    [(10, 3, 2, 0, 4, 5), (9, 3, 2, 0, 4, 4), (9, 3, 4, 0, 2, 3), (6, 3, 4, (0, 2), 2, 2), (7, 1, 3, (0, 3), 4, 4)],
)
def test_last_window_begins_within_x(extent, window, strides, pads, floor, ceil):
    x = TensorSpec("float32", (1, 1, extent))
    more = {"window": window, "strides": strides, "pads": pads}
    assert Pool.infer("max", x, **more).out.shape[-1] == floor
    found = Pool.infer("max", x, **more, ceil=True)
    assert found.out.shape[-1] == ceil
    assert Pool("max", x=x, y=found.out, **more) == found
    with pytest.raises(ValueError, match=r"^pool/max: y has shape"):
        Pool("max", x=x, y=TensorSpec("float32", (1, 1, ceil + 1)), **more)


def test_windows_are_reduced_where_they_lie():
    (stage,) = Pool.infer("average", X, 3, strides=2, dilations=(1, 2)).lower()
    assert stage.descriptor.x == TensorSpec("float32", (2, 3, 4, 3, 3, 3), (270, 90, 20, 2, 10, 2))
    assert kinds("average", X, 3) == [Reduce]
    assert kinds("max", X, 3, pads=1) == [Pad, Reduce]
    assert kinds("average", X, 3, pads=1, counts_pads=True) == [Pad, Reduce]
    counted = [Fill, Pad, Reduce, BroadcastBinary]
    assert kinds("average", X, 3, pads=1) == [Pad, Reduce, *counted]
    assert kinds("average", X, 3, strides=2, ceil=True, counts_pads=True) == [Pad, Reduce, *counted]
    half = TensorSpec("float16", X.shape)
    assert kinds("average", half, 3, pads=1) == [Pad, Reduce, *counted, Cast]
    assert kinds("average", half, 3) == [Reduce]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"op": "median"}, r"pool: op 'median' is not one of its ops"),
        ({"window": 0}, r"pool/max: window has 0, needs at least 1"),
        ({"window": (3, 3, 3)}, r"pool/max: window is \(3, 3, 3\), needs an integer, or 2 of them"),
        ({"window": 11}, r"pool/max: a window spans 11 elements in spatial dimension 0, and x with its pads has 9"),
        ({"pads": -1}, r"pool/max: pads has -1"),
        ({"counts_pads": True}, r"pool/max: counts_pads is True, and max counts nothing"),
        ({"op": "average", "x": TensorSpec("int8", X.shape)}, r"pool/average: x has dtype int8"),
        ({"x": TensorSpec("float32", (2, 3))}, r"pool/max: x has shape \(2, 3\), needs 1 to 6 dimensions"),
        ({"ceil": True, "strides": 2, "y": TensorSpec("float32", (2, 3, 4, 4))}, r"pool/max: ceil is True and makes"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        Pool.infer(**({"op": "max", "x": X, "window": 3} | change))


def test_parts_are_channels_where_they_lie():
    whole = Pool.infer("average", X, 3, pads=1)
    first, last, rest = FAMILY.parts(whole)
    assert (first.x.shape, first.x.offset, first.out.shape) == ((1, 1, 9, 10), 0, (1, 1, 9, 10))
    assert last.x.offset == 5 * 90
    assert rest.x.shape[:2] == (2, 2)
