"""TopK: its descriptors, messages, and its choice against a search one by one."""

import math
import pickle

import numpy as np
import pytest
from ep_primitives import TOP_K_OPS, TopK
from ep_primitives.families.top_k.descriptor import TOP_K_DTYPES
from ep_primitives.families.top_k.family import TopKFamily
from ep_primitives.judging.reference import array_dtype
from hypothesis import given
from hypothesis import strategies as st

from ep import TensorSpec

FAMILY = TopKFamily()
X = TensorSpec("float32", (4, 3, 5))


def chosen(op, x, k, axis=-1, *, is_sorted=True):
    """Return values and indices as the family knows them."""
    x = np.asarray(x)
    descriptor = TopK.infer(op, TensorSpec(x.dtype.name, x.shape), k, axis, sorted=is_sorted)
    return FAMILY.moved(descriptor, {"x": x})["values"], FAMILY.reference(descriptor, {"x": x})["indices"].value


def searched(op, row, k, *, is_sorted):
    """Return the places by taking the best of the remaining elements, k times."""
    left, found = list(range(len(row))), []
    for _ in range(k):
        best = left[0]
        for place in left[1:]:
            a, b = (row[place], row[best]) if op == "largest" else (row[best], row[place])
            if (a > b) or (math.isnan(a) and not math.isnan(b)):
                best = place
        left.remove(best)
        found.append(best)
    return found if is_sorted else sorted(found)


@given(
    st.sampled_from(sorted(TOP_K_OPS)),
    st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.5, math.inf, -math.inf, math.nan]), min_size=1, max_size=12),
    st.data(),
)
def test_choice_is_that_of_a_search_one_by_one(op, row, data):
    k, is_sorted = data.draw(st.integers(0, len(row))), data.draw(st.booleans())
    values, indices = chosen(op, np.array(row), k, is_sorted=is_sorted)
    assert indices.tolist() == searched(op, row, k, is_sorted=is_sorted)
    assert values.tobytes() == np.array(row)[indices].tobytes()


@pytest.mark.parametrize("dtype", TOP_K_DTYPES)
def test_every_element_type_is_ordered(dtype):
    x = np.array([1, 0, 1, 0, 1]).astype(array_dtype(dtype))
    assert chosen("largest", x, 4)[1].tolist() == [0, 2, 4, 1]
    assert chosen("smallest", x, 4)[1].tolist() == [1, 3, 0, 2]
    assert chosen("smallest", x, 4, is_sorted=False)[1].tolist() == [0, 1, 2, 3]


def test_rows_lie_along_the_axis():
    x = np.random.default_rng(3).permutation(60).reshape(3, 4, 5)
    for axis in (0, 1, 2, -2):
        values, indices = chosen("largest", x, 2, axis)
        np.testing.assert_array_equal(values, np.flip(np.sort(x, axis), axis).take([0, 1], axis))
        np.testing.assert_array_equal(np.take_along_axis(x, indices, axis), values)
    assert chosen("smallest", np.float32(7), 1)[1].item() == 0


def test_bytes_of_truth_and_payloads_are_kept():
    truth = np.array([0, 128, 1], np.uint8).view(np.bool_)
    assert chosen("largest", truth, 2)[0].view(np.uint8).tolist() == [128, 1]
    nan = np.array([0x3F800000, 0xFFC00123, 0x7F800001], np.uint32).view(np.float32)
    assert chosen("largest", nan, 3)[0].view(np.uint32).tolist() == [0xFFC00123, 0x7F800001, 0x3F800000]


def test_descriptor_knows_its_rows():
    found = TopK.infer("largest", X, 2, 1)
    assert found.specs == (X, TensorSpec("float32", (4, 2, 5)), TensorSpec("int64", (4, 2, 5)))
    assert (found.k, found.extent, found.axis, found.sorted, found.attributes) == (2, 3, 1, True, (1, 1))
    assert (found.steps, found.across.shape) == ((5, 5, 5), (4, 5))
    assert found.geometry.shape == (4, 5, 3)
    assert found.cell == "top_k/largest/float32->float32,int64/dense"
    assert TopK.infer("largest", TensorSpec("int64", (3,)), 3).cell == "top_k/largest/int64/dense"
    assert pickle.loads(pickle.dumps(found)) == found != TopK.infer("largest", X, 2, 1, sorted=False)
    assert TopK.infer("smallest", X, 0).is_empty
    assert TopK.infer("smallest", TensorSpec("int8", (3, 0)), 0).layout == "empty"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: TopK.infer("best", X, 2), ValueError, "top_k: op 'best' is not one of its ops"),
        (lambda: TopK.infer("largest", X, 6), ValueError, r"top_k/largest: k is 6, needs 0 to 5, the extent of x \(4, 3, 5\) along axis 2; ask"),
        (lambda: TopK.infer("largest", X, -1), ValueError, "top_k/largest: k is -1, needs 0 to 5"),
        (lambda: TopK.infer("largest", X, 1.5), TypeError, "top_k/largest: k"),
        (lambda: TopK.infer("largest", TensorSpec("int8", ()), 0), ValueError, "top_k/largest: k is 0, needs 1 to 1"),
        (lambda: TopK.infer("largest", X, 2, 3), ValueError, "top_k/largest: axis is 3, needs an integer from -3 to 2"),
        (lambda: TopK.infer("largest", X, 2, sorted=2), TypeError, "top_k/largest: sorted"),
        (lambda: TopK.infer("largest", TensorSpec("complex64", (3,)), 2), ValueError, "top_k/largest: x has dtype complex64"),
        (lambda: TopK.infer("largest", X, 2, indices=TensorSpec("int32", (4, 3, 2))), ValueError, "top_k/largest: indices has dtype int32, needs int64; describe indices so"),
        (lambda: TopK.infer("largest", X, 2, indices=TensorSpec("int64", (4, 3, 1))), ValueError, r"top_k/largest: indices has shape \(4, 3, 1\), needs \(4, 3, 2\)"),
        (lambda: TopK.infer("largest", X, 2, values=TensorSpec("float32", (4, 2, 2))), ValueError, r"top_k/largest: values has shape \(4, 2, 2\), needs x's shape"),
        (lambda: TopK.infer("largest", X, 2, values=TensorSpec("float32", (4, 3, 2), (0, 1, 3))), ValueError, "top_k/largest: values .* overlaps itself"),
        (lambda: TopK("largest", x=X, values=TensorSpec("float32", (4, 3, 6)), indices=TensorSpec("int64", (4, 3, 6))), ValueError, "top_k/largest: values has shape"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(call, error, words):
    with pytest.raises(error, match=f"^{words}"):
        call()


def test_parts_are_rows():
    whole = TopK.infer("largest", X, 2, 1)
    first, last, rest = FAMILY.parts(whole)
    assert (first.x.shape, first.out.shape) == ((1, 3, 1), (1, 2, 1))
    assert (last.x.offset, last.out.offset, rest.x.shape) == (49, 34, (4, 3, 4))
