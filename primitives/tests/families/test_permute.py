import pickle
from itertools import permutations

import numpy as np
import pytest
from ep_primitives import Copy, Permute
from ep_primitives.families.permute.descriptor import PermuteFamily
from hypothesis import given, settings
from hypothesis import strategies as st

from ep import TensorSpec

CUBE = TensorSpec("float32", (2, 3, 4))


def test_infers_from_specs_and_arrays_alike():
    x = np.zeros((2, 3, 4), np.float32)
    assert Permute.infer(x, (2, 0, 1)) == Permute.infer(CUBE, (2, 0, 1))
    assert Permute.infer(x[:, ::-1], (2, 0, 1)).x.strides == (12, -4, 1)
    assert Permute.infer(CUBE, (2, 0, 1)).out == TensorSpec("float32", (4, 2, 3))


def test_counts_negative_dimensions_from_the_end():
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
        ({1, 2, 0}, TypeError, ("permute: permutation is {0, 1, 2}", "give a tuple")),
        ({0: 1, 1: 2, 2: 0}, TypeError, ("needs 3 integers",)),
        (None, TypeError, ("permute: permutation is None",)),
    ],
)
def test_refuses_what_is_no_permutation(permutation, error, parts):
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
    ],
)
def test_misfits_are_refused_in_words(make, error, parts):
    with pytest.raises(error) as caught:
        make()
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_lowers_to_the_copy_of_the_same_elements():
    x = TensorSpec("int8", (2, 3, 4), (-12, 1, 5), 30)
    for order in permutations(range(3)):
        permute = Permute.infer(x, order)
        (stage,) = permute.lower()
        lowered = stage.descriptor
        assert type(lowered) is Copy
        assert (lowered.specs[0].lo, lowered.specs[0].hi) == (x.lo, x.hi)
        assert lowered.specs[0].strides == tuple(x.strides[axis] for axis in order)
        assert permute.geometry == lowered.geometry


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(0, 16).flatmap(lambda rank: st.permutations(range(rank))), st.data())
def test_every_permutation_is_numpys(order, data):
    extents = [data.draw(st.sampled_from((0, 1, 2, 3) if len(order) < 6 else (1, 1, 2))) for _ in order]
    x = np.arange(np.prod(extents, dtype=int), dtype=np.uint16).reshape(extents)
    given_as = [axis - len(order) * data.draw(st.integers(0, 1)) for axis in order]
    descriptor = Permute.infer(x, given_as)
    assert descriptor.permutation == tuple(order)
    assert descriptor.out.shape == x.transpose(order).shape
    moved = PermuteFamily().moved(descriptor, {"x": x})
    assert moved.tobytes() == x.transpose(order).tobytes()


def test_result_keeps_bits():
    odd = np.array([[0x7F800001, 0xFFC12345], [0x80000000, 1]], np.uint32).view(np.float32)
    moved = PermuteFamily().moved(Permute.infer(odd, (1, 0)), {"x": odd})
    assert (moved.view(np.uint32) == odd.view(np.uint32).T).all()
