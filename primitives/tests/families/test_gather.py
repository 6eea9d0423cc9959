import pickle

import numpy as np
import pytest
from ep_primitives import Gather
from ep_primitives.families.gather.family import GatherFamily
from hypothesis import given, settings
from hypothesis import strategies as st

from ep import TensorSpec

X = TensorSpec("float32", (4, 5, 3))
INT64 = np.iinfo(np.int64)


def test_infer_puts_the_shape_of_the_indices_in_place_of_the_axis():
    asked = np.zeros((2, 6), np.int32)
    descriptor = Gather.infer(X, asked, axis=-2)
    specs = {"x": X, "indices": TensorSpec("int32", (2, 6)), "out": TensorSpec("float32", (4, 2, 6, 3))}
    assert descriptor == Gather(**specs, axis=1)
    assert (descriptor.axis, descriptor.batch_dims, descriptor.extent, descriptor.step) == (1, 0, 5, 3)
    assert Gather.infer(X, np.zeros((4, 2, 6), np.int64), axis=1, batch_dims=1).out.shape == (4, 2, 6, 3)
    assert Gather.infer(X, np.int64(3), axis=1).out.shape == (4, 3)
    assert Gather.infer(TensorSpec("int8", ()), asked).out.shape == (2, 6)
    assert pickle.loads(pickle.dumps(descriptor)) == descriptor


def test_bytes_moved_are_those_of_out_twice_and_of_the_indices():
    assert Gather.infer(X, TensorSpec("int32", (2,)), axis=1).nbytes_moved == 2 * 4 * (4 * 2 * 3) + 2 * 4


@pytest.mark.parametrize(
    ("change", "error", "parts"),
    [
        ({"x": None}, TypeError, ("gather: x is None", "needs a TensorSpec")),
        ({"indices": TensorSpec("float32", (5,))}, ValueError, ("gather: indices has dtype float32", "int32", "int64")),
        ({"indices": TensorSpec("uint32", (5,))}, ValueError, ("gather: indices has dtype uint32",)),
        ({"axis": 3}, ValueError, ("gather: axis is 3", "x (4, 5, 3)")),
        ({"axis": -4}, ValueError, ("gather: axis is -4",)),
        ({"axis": 1.0}, TypeError, ("gather: axis",)),
        ({"axis": True}, TypeError, ("gather: axis is True", "give an int")),
        ({"batch_dims": True}, TypeError, ("gather: batch_dims is True", "give an int")),
        ({"batch_dims": 1}, ValueError, ("gather: batch_dims is 1, needs 0 to 0", "before axis 0")),
        ({"batch_dims": -1}, ValueError, ("gather: batch_dims is -1",)),
        ({"axis": 1, "batch_dims": 1}, ValueError, ("(4, 5, 3)", "(5,)", "differ in their first 1 extents")),
        ({"indices": TensorSpec("int64", (1,) * 15)}, ValueError, ("output of rank 17", "at most 16")),
    ],
)
def test_misfits_are_refused_in_words(change, error, parts):
    with pytest.raises(error) as caught:
        Gather.infer(**{"x": X, "indices": TensorSpec("int64", (5,)), **change})
    assert all(part in str(caught.value) for part in parts), str(caught.value)


@pytest.mark.parametrize(
    ("out", "parts"),
    [
        (TensorSpec("float32", (5, 4, 3)), ("gather: out has shape (5, 4, 3), needs (5, 5, 3)", "in place of axis 0")),
        (TensorSpec("float64", (5, 5, 3)), ("gather: out has dtype float64", "needs float32")),
        (TensorSpec("float32", (5, 5, 3), (0, 3, 1)), ("gather: out", "overlaps itself")),
    ],
)
def test_misfitting_outputs_are_refused_in_words(out, parts):
    with pytest.raises(ValueError, match="gather") as caught:
        Gather(x=X, indices=TensorSpec("int64", (5,)), out=out)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_contents_out_of_range_are_named_by_the_first():
    descriptor = Gather.infer(X, TensorSpec("int64", (2, 3)), axis=1)
    descriptor.check_contents({"indices": np.array([[0, 4, 3], [2, 1, 0]])})
    for wrong in (5, -1, INT64.min, INT64.max):
        with pytest.raises(ValueError, match=rf"indices\[0, 2\] is {wrong}, needs 0 to 4 for axis 1 .*\(2 of 6"):
            descriptor.check_contents({"indices": np.array([[0, 4, wrong], [2, -7, 0]])})
    nothing = Gather.infer(TensorSpec("int8", (0, 2)), TensorSpec("int32", (1,)))
    with pytest.raises(ValueError, match=r"indices\[0\] is 0, and no index is in range"):
        nothing.check_contents({"indices": np.zeros(1, np.int32)})


@st.composite
def gathers(draw):
    """Draw x, indices in and out of range, an axis and batch dimensions."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    axis = draw(st.integers(0, len(shape) - 1))
    shared = draw(st.integers(0, axis))
    asked = (*shape[:shared], *draw(st.lists(st.integers(0, 3), max_size=2)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    indices = rng.integers(-2, shape[axis] + 2, asked)
    return np.arange(1, np.prod(shape, dtype=int) + 1, dtype=np.int16).reshape(shape), indices, axis, shared


@settings(max_examples=300, deadline=None, derandomize=True)
@given(gathers())
def test_reference_is_numpys_take_of_each_batch_and_zero_out_of_range(drawn):
    x, indices, axis, shared = drawn
    wanted = np.empty((*x.shape[:axis], *indices.shape[shared:], *x.shape[axis + 1 :]), x.dtype)
    for batch in np.ndindex(x.shape[:shared]):
        rows = np.insert(x[batch], x.shape[axis], 0, axis=axis - shared)
        asked = np.where((indices[batch] < 0) | (indices[batch] >= x.shape[axis]), x.shape[axis], indices[batch])
        wanted[batch] = rows.take(asked, axis=axis - shared)
    descriptor = Gather.infer(x, indices, axis=axis, batch_dims=shared)
    given_back = GatherFamily().moved(descriptor, {"x": x, "indices": indices})
    assert given_back.shape == wanted.shape
    assert given_back.tobytes() == wanted.tobytes()


def test_reference_keeps_bits_and_knows_when_nothing_tells():
    odd = np.array([0x7F800001, 0xFFC12345, 0x80000000], np.uint32).view(np.float32)
    asked = np.array([2, 0, 1, 9])
    out = GatherFamily().moved(Gather.infer(odd, asked), {"x": odd, "indices": asked})
    assert out.view(np.uint32).tolist() == [0x80000000, 0x7F800001, 0xFFC12345, 0]
    assert GatherFamily().is_constant(Gather.infer(TensorSpec("int8", (0,)), asked))
    assert not GatherFamily().is_constant(Gather.infer(odd, asked))
