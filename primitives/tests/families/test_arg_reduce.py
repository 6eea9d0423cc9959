"""ArgReduce: its descriptors, messages, and places against a search one by one."""

import itertools
import math
import pickle

import ml_dtypes
import numpy as np
import pytest
from ep_primitives import ARG_REDUCE_OPS, ArgReduce
from ep_primitives.families.arg_reduce.data import CONTENTS
from ep_primitives.families.arg_reduce.descriptor import ARG_REDUCE_DTYPES
from ep_primitives.families.arg_reduce.family import ArgReduceFamily
from ep_primitives.judging.reference import widened

from ep import TensorSpec

FAMILY = ArgReduceFamily()
NAN, INF = math.nan, math.inf


def spec(*shape, dtype="float32", strides=None, offset=0):
    return TensorSpec(dtype, shape, strides, offset)


def places(op, x, axis=None, **more):
    x = np.asarray(x)
    descriptor = ArgReduce.infer(op, TensorSpec(x.dtype.name, x.shape), axis, **more)
    return FAMILY.reference(descriptor, {"x": x}).value


def found(op, row):
    """Return the place by the definition, one element after the other."""
    best = 0
    for place, element in enumerate(row):
        is_better = element > row[best] if op == "max" else element < row[best]
        if row[best] == row[best] and (is_better or element != element):  # noqa: PLR0124 - NaN equals nothing
            best = place
    return best


def test_infer_keeps_or_drops_the_axis():
    x = spec(2, 3, 5)
    assert ArgReduce.infer("max", x).out == spec(dtype="int64")
    assert ArgReduce.infer("max", x, keepdims=True).out == spec(1, 1, 1, dtype="int64")
    assert ArgReduce.infer("max", x, -1, dtype="int32").out == spec(2, 3, dtype="int32")
    assert ArgReduce.infer("min", np.zeros((4, 3), np.int8), 0, keepdims=True).out == spec(1, 3, dtype="int64")
    assert ArgReduce.infer("max", spec()).axes == ()


def test_attributes_are_the_axis_or_nothing():
    whole, last = ArgReduce.infer("max", spec(6)), ArgReduce.infer("max", spec(6), -1)
    assert (whole.attributes, last.attributes) == ((), (0,))
    assert (whole.axis, last.axis) == (None, 0)
    assert whole.axes == last.axes == (0,)
    assert pickle.loads(pickle.dumps(last)) == last


def test_a_row_of_all_elements_is_walked_in_row_major_order():
    turned = ArgReduce.infer("max", spec(4, 6, strides=(1, 4)))
    assert turned.reduced[:2] == ((4, 6), ((1, 4),))
    assert turned.kept.shape == ()
    assert ArgReduce.infer("max", spec(4, 6)).reduced[:2] == ((24,), ((1,),))
    one = ArgReduce.infer("max", spec(4, 6, 7), 1)
    assert one.reduced[:2] == ((6,), ((7,),))
    assert one.kept[:2] == ((4, 7), ((42, 1), (7, 1)))


@pytest.mark.parametrize(
    ("make", "error", "parts"),
    [
        (lambda: ArgReduce.infer("argmax", spec(3)), ValueError, ("arg_reduce: op 'argmax'", "all are max, min")),
        (lambda: ArgReduce.infer("max", 3), TypeError, ("arg_reduce/max: x is 3",)),
        (lambda: ArgReduce.infer("max", spec(3, dtype="complex64")), ValueError, ("x has dtype complex64", "bool")),
        (lambda: ArgReduce.infer("max", spec(3), dtype="int16"), ValueError, ("out has dtype int16", "int64, int32")),
        (
            lambda: ArgReduce.infer("max", spec(3, 4), 2),
            ValueError,
            ("axis 2 is no axis of x", "rank 2", "-2 to 1", "None"),
        ),
        (lambda: ArgReduce.infer("max", spec(), 0), ValueError, ("axis 0 is no axis of x", "needs None")),
        (lambda: ArgReduce.infer("max", spec(3), (0,)), TypeError, ("arg_reduce/max: axis is (0,)", "integer")),
        (lambda: ArgReduce.infer("max", spec(3, 4), True), TypeError, ("arg_reduce/max: axis is True", "give an int")),
        (
            lambda: ArgReduce.infer("min", spec(3, 0), 1),
            ValueError,
            ("arg_reduce/min: x (3, 0)", "axis 1", "needs at least one"),
        ),
        (lambda: ArgReduce.infer("min", spec(0)), ValueError, ("x (0,) has no elements; a place needs at least one",)),
        (
            lambda: ArgReduce.infer("max", spec(2**31 + 1, dtype="int8", strides=(0,)), dtype="int32"),
            ValueError,
            ("out has dtype int32", "2147483649", "int64"),
        ),
        (
            lambda: ArgReduce("max", x=spec(3, 4), out=spec(4, dtype="int64"), axis=1),
            ValueError,
            ("over axes (1,)", "out (4,)", "needs (3,) or (3, 1)"),
        ),
    ],
)
def test_descriptor_refuses_with_a_message_that_says_what_is_needed(make, error, parts):
    with pytest.raises(error) as raised:
        make()
    for part in parts:
        assert part in str(raised.value)


def test_int32_holds_the_places_of_two_to_the_31_elements():
    assert ArgReduce.infer("max", spec(2**31, dtype="int8", strides=(0,)), dtype="int32").out.dtype == "int32"


def test_rows_of_nothing_are_fine_where_there_are_none():
    descriptor = ArgReduce.infer("max", spec(0, 0), 1)
    assert descriptor.out.shape == (0,)
    assert FAMILY.reference(descriptor, {"x": np.zeros((0, 0), np.float32)}).value.shape == (0,)


@pytest.mark.parametrize("op", ARG_REDUCE_OPS)
def test_places_of_small_rows_are_those_of_a_search(op):
    values = [-1.0, -0.0, 0.0, 2.0, INF, -INF, NAN]
    rows = np.array([*itertools.product(values, repeat=4)], np.float32)
    assert places(op, rows, 1).tolist() == [found(op, row) for row in rows.tolist()]


@pytest.mark.parametrize("dtype", ARG_REDUCE_DTYPES)
def test_places_of_every_content_are_those_of_a_search(dtype):
    rng = np.random.default_rng(3)
    for content, op in itertools.product(CONTENTS, ARG_REDUCE_OPS):
        if dtype in content.dtypes and content.profile == "quick":
            rows = content.rows(rng, op, dtype, content.shape)
            assert rows.dtype == np.dtype(getattr(ml_dtypes, dtype, dtype))
            wanted = [found(op, row) for row in widened(dtype, rows).tolist()]
            assert places(op, rows, 1).tolist() == wanted
            assert len(set(wanted)) >= 3


def test_ties_lie_in_other_lanes_and_blocks():
    content = next(each for each in CONTENTS if each.name == "ties-4099")
    rows = content.rows(np.random.default_rng(3), "max", "float32", content.shape)
    first = rows.argmax(1)
    last = rows.shape[1] - 1 - rows[:, ::-1].argmax(1)
    away = last - first
    assert (away > 0).all()
    assert set((away % 16).tolist()) & set(range(1, 16))
    assert (away > 1000).sum() >= 2
    assert (first // 1024 != last // 1024).sum() >= 3


def test_any_byte_of_a_bool_but_0_is_true():
    x = np.array([[0, 2, 1], [0, 0, 255], [3, 1, 0]], np.uint8).view(np.bool_)
    assert places("max", x, 1).tolist() == [1, 2, 0]
    assert places("min", x, 1).tolist() == [0, 0, 2]
