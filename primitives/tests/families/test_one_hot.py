import pickle

import numpy as np
import pytest
from ep_primitives import OneHot
from ep_primitives.families.one_hot.family import OneHotFamily
from hypothesis import given, settings
from hypothesis import strategies as st

from ep import Scalar, TensorSpec

INDICES = TensorSpec("int64", (4, 3))
OUT = TensorSpec("float32", (4, 3, 7))


def test_infer_puts_the_classes_in_at_the_axis():
    descriptor = OneHot.infer(np.zeros((4, 3), np.int64), "float32", 7)
    assert descriptor == OneHot(indices=INDICES, out=OUT, on=Scalar("float32"), off=Scalar("float32"), axis=2)
    assert (descriptor.axis, descriptor.first, descriptor.classes, descriptor.step) == (2, 0, 7, 1)
    assert OneHot.infer(INDICES, "int8", 7, axis=0).out.shape == (7, 4, 3)
    assert OneHot.infer(INDICES, "int8", np.int32(7), axis=-2).out.shape == (4, 7, 3)
    assert OneHot.infer(np.int32(2), "int8", 7).out.shape == (7,)
    assert pickle.loads(pickle.dumps(descriptor)) == descriptor


def test_numbers_may_be_left_out_and_are_of_the_type_of_out():
    descriptor = OneHot.infer(INDICES, "float16", 7)
    assert dict(descriptor.roles.defaults) == {"on": 1, "off": 0}
    assert descriptor.specs[1:3] == (Scalar("float16"), Scalar("float16"))
    assert descriptor.compute == "float32"


@pytest.mark.parametrize(
    ("change", "error", "parts"),
    [
        ({"indices": None}, TypeError, ("one_hot: indices is None", "not a TensorSpec")),
        ({"indices": TensorSpec("bool", (4, 3))}, ValueError, ("one_hot: indices has dtype bool", "int32", "int64")),
        ({"indices": TensorSpec("int64", (4, 2))}, ValueError, ("out has shape (4, 3, 7)", "(4, 2)", "at axis 2")),
        ({"indices": TensorSpec("int64", ()), "out": TensorSpec("float32", ())}, ValueError, ("out has rank 0",)),
        ({"out": TensorSpec("float32", (4, 3, 7), (7, 0, 1))}, ValueError, ("one_hot: out", "overlaps itself")),
        ({"on": Scalar("float64")}, ValueError, ("one_hot: on has dtype float64", "needs float32")),
        ({"off": 0.0}, TypeError, ("one_hot: off is 0.0, not a Scalar", "off=...")),
        ({"axis": 3}, ValueError, ("one_hot: axis is 3",)),
        ({"axis": 1}, ValueError, ("one_hot: out has shape (4, 3, 7)", "at axis 1")),
        ({"first": 2**63 - 6}, ValueError, ("one_hot: first is 9223372036854775802", "each of the 7 classes")),
        ({"first": -(2**63) - 1}, ValueError, ("one_hot: first is -9223372036854775809",)),
        ({"first": 0.5}, TypeError, ("one_hot: first",)),
        ({"first": True}, TypeError, ("one_hot: first is True", "give an int")),
    ],
)
def test_misfits_are_refused_in_words(change, error, parts):
    with pytest.raises(error) as caught:
        OneHot(**{"indices": INDICES, "out": OUT, **change})
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_classes_that_are_no_number_or_no_room_are_refused_in_words():
    with pytest.raises(ValueError, match="one_hot: classes"):
        OneHot.infer(INDICES, "int8", -1)
    with pytest.raises(ValueError, match="indices has rank 16, and out would have one more"):
        OneHot.infer(TensorSpec("int64", (1,) * 16), "int8", 2)


def test_ranges_of_classes_reach_both_ends_of_int64():
    for first in (-(2**63), 2**63 - 7):
        descriptor = OneHot(indices=INDICES, out=OUT, first=first)
        indices = np.full((4, 3), first + 3)
        given_back = OneHotFamily().reference(descriptor, {"indices": indices, "on": 1, "off": 0}).value
        assert (given_back == np.eye(7)[3]).all()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, 4), max_size=3), st.integers(0, 5), st.integers(-3, 3), st.integers(0, 3), st.integers(0)
)
def test_reference_is_a_row_of_numpys_eye_and_of_off_out_of_range(shape, classes, first, axis, seed):
    axis = min(axis, len(shape))
    indices = np.random.default_rng(seed).integers(first - 2, first + classes + 2, shape)
    rows = np.vstack([np.eye(classes), np.zeros(classes)])
    asked = np.where((indices < first) | (indices >= first + classes), classes, indices - first)
    wanted = np.moveaxis(rows[asked], -1, axis)
    descriptor = OneHot.infer(indices, "int32", classes, axis=axis, first=first)
    given_back = OneHotFamily().reference(descriptor, {"indices": indices, "on": 5, "off": -5}).value
    assert given_back.shape == wanted.shape == descriptor.out.shape
    assert (given_back == np.where(wanted == 1, 5, -5)).all()
