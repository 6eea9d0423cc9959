"""Families that are copies of what their input is seen as: TensorFill and Permute."""

import pickle
from itertools import permutations

import numpy as np
import pytest
from ep_primitives import Copy, Permute, TensorFill
from ep_primitives.permute import PermuteFamily
from ep_primitives.tensor_fill import TensorFillFamily

from ep import TensorSpec

CUBE = TensorSpec("float32", (2, 3, 4))


def test_permute_infers_from_specs_and_arrays_alike():
    x = np.zeros((2, 3, 4), np.float32)
    assert Permute.infer(x, (2, 0, 1)) == Permute.infer(CUBE, (2, 0, 1))
    assert Permute.infer(x[:, ::-1], (2, 0, 1)).x.strides == (12, -4, 1)
    assert Permute.infer(CUBE, (2, 0, 1)).out == TensorSpec("float32", (4, 2, 3))


def test_permute_counts_negative_dimensions_from_the_end():
    descriptor = Permute.infer(CUBE, (-1, 0, np.int64(-2)))
    assert descriptor.permutation == (2, 0, 1)
    assert descriptor == Permute.infer(CUBE, [2, 0, 1])
    assert pickle.loads(pickle.dumps(descriptor)) == descriptor


@pytest.mark.parametrize(
    ("permutation", "error", "parts"),
    [
        ((0, 1), ValueError, ("permute: permutation is (0, 1)", "needs 3 integers", "(2, 3, 4)", "it has 2")),
        ((), ValueError, ("permute: permutation is ()", "it has 0")),
        ((0, 1, 3), ValueError, ("permutation (0, 1, 3) names dimension 3", "does not have", "0 to 2", "-3 to -1")),
        ((0, 1, -4), ValueError, ("names dimension -4",)),
        ((0, 1, 1), ValueError, ("(0, 1, 1) names dimension 1 more than once and not dimension 2", "(2, 3, 4) once")),
        ((0, -3, 0), ValueError, ("names dimension 0 more than once and not dimensions 1, 2",)),
        ((0, 1, 2.0), TypeError, ("permute: permutation is (0, 1, 2.0)", "needs 3 integers", "give a tuple")),
        ((False, True, 2), TypeError, ("permute: permutation is (False, True, 2)",)),
        ((np.True_, 0, 2), TypeError, ("needs 3 integers",)),
        ("012", TypeError, ("permute: permutation is '012'",)),
        (3, TypeError, ("permute: permutation is 3",)),
        (None, TypeError, ("permute: permutation is None",)),
    ],
)
def test_permute_refuses_what_is_no_permutation(permutation, error, parts):
    for make in (
        lambda: Permute.infer(CUBE, permutation),
        lambda: Permute(x=CUBE, out=CUBE, permutation=permutation),
    ):
        with pytest.raises(error) as caught:
            make()
        assert all(part in str(caught.value) for part in parts), str(caught.value)


@pytest.mark.parametrize(
    ("make", "error", "parts"),
    [
        (
            lambda: Permute(x=CUBE, out=CUBE, permutation=(1, 0, 2)),
            ValueError,
            ("permute: out has shape (2, 3, 4), needs (3, 2, 4)", "(1, 0, 2)"),
        ),
        (
            lambda: Permute(x=CUBE, out=TensorSpec("int32", (2, 3, 4)), permutation=(0, 1, 2)),
            ValueError,
            ("permute: out has dtype int32", "needs float32"),
        ),
        (lambda: Permute.infer("x", (0,)), TypeError, ("permute: x is 'x'", "needs a TensorSpec")),
        (lambda: Permute(x=3, out=CUBE, permutation=()), TypeError, ("permute: x is 3", "TensorSpec.of")),
        (
            lambda: Permute(x=CUBE, out=TensorSpec("float32", (2, 3, 4), (0, 4, 1)), permutation=(0, 1, 2)),
            ValueError,
            ("permute: out", "overlaps itself"),
        ),
        (
            lambda: TensorFill(x=CUBE, out=CUBE),
            ValueError,
            ("tensor_fill: x has shape (2, 3, 4), 24 elements, needs exactly one", "Copy to broadcast"),
        ),
        (
            lambda: TensorFill(x=TensorSpec("float32", (0,)), out=CUBE),
            ValueError,
            ("tensor_fill: x has shape (0,), 0 elements",),
        ),
        (
            lambda: TensorFill(x=TensorSpec("int8", ()), out=CUBE),
            ValueError,
            ("tensor_fill: out has dtype float32, needs int8",),
        ),
        (lambda: TensorFill.infer(1.5, (3,)), TypeError, ("tensor_fill: x is 1.5", "needs a TensorSpec")),
    ],
)
def test_misfits_are_refused_in_words(make, error, parts):
    with pytest.raises(error) as caught:
        make()
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_both_lower_to_the_copy_of_the_same_elements():
    x = TensorSpec("int8", (2, 3, 4), (-12, 1, 5), 30)
    for order in permutations(range(3)):
        lowered = Permute.infer(x, order).lower()
        assert type(lowered) is Copy
        assert (lowered.specs[0].lo, lowered.specs[0].hi) == (x.lo, x.hi)
        assert lowered.specs[0].strides == tuple(x.strides[axis] for axis in order)
    filled = TensorFill.infer(TensorSpec("int8", (1,) * 16, None, 5), (3, 2))
    assert filled.lower() == Copy(x=TensorSpec("int8", (), None, 5), out=TensorSpec("int8", (3, 2)))
    assert filled.geometry == filled.lower().geometry
    assert (filled.nbytes_moved, filled.flops) == (7, 0)


def test_results_keep_bits():
    odd = np.array([[0x7F800001, 0xFFC12345], [0x80000000, 1]], np.uint32).view(np.float32)
    descriptor = Permute.infer(odd, (1, 0))
    moved = PermuteFamily().moved(descriptor, {"x": odd})
    assert (moved.view(np.uint32) == odd.view(np.uint32).T).all()
    byte = np.array([[7]], np.uint8).view(np.bool_)
    filled = TensorFillFamily().moved(TensorFill.infer(byte, (2,)), {"x": byte})
    assert np.ascontiguousarray(filled).view(np.uint8).tolist() == [7, 7]
