"""The descriptor of random fills: its refusals, its count of words and its order of elements."""

import numpy as np
import pytest
from ep_primitives import RANDOM_OPS, RandomFill
from ep_primitives.families.random_fill.descriptor import STATE

import ep
from ep import Scalar, TensorSpec

FAMILY = ep.families()["random_fill"]


def test_repr_makes_an_equal_descriptor():
    for row in RANDOM_OPS.values():
        fill = RandomFill.infer(row.name, TensorSpec(row.dtypes[0], (3, 2)))
        assert eval(repr(fill), {"RandomFill": RandomFill, "TensorSpec": TensorSpec, "Scalar": Scalar}) == fill


@pytest.mark.parametrize(
    ("op", "given", "words"),
    [
        ("gamma", {"out": TensorSpec("float32", (3,))}, ["gamma", "normal"]),
        ("normal", {"out": TensorSpec("int32", (3,))}, ["out", "int32", "float32"]),
        ("words", {"out": TensorSpec("uint64", (3,))}, ["out", "uint64", "uint32"]),
        ("uniform", {"out": TensorSpec("float32", (3,), (0,))}, ["out", "overlaps itself"]),
        ("uniform", {"out": TensorSpec("float32", (3,)), "state": TensorSpec("uint64", (3,))}, ["state", "view"]),
        ("uniform", {"out": TensorSpec("float32", (3,)), "p": Scalar("float64")}, ["p is", "only state and out"]),
        ("integers", {"out": TensorSpec("int8", (3,)), "low": Scalar("int32")}, ["low", "Scalar('int8')"]),
        ("bernoulli", {"out": TensorSpec("bool", (3,)), "p": 0.5}, ["p is 0.5", "at launch"]),
    ],
)
def test_wrong_descriptions_are_refused_by_name(op, given, words):
    with pytest.raises(ValueError, match=op) as caught:
        RandomFill(op, **given)
    assert all(word in str(caught.value) for word in words)


def test_an_output_that_is_no_spec_is_a_type_error():
    with pytest.raises(TypeError, match="uniform: out"):
        RandomFill("uniform", out=np.zeros(3))


def test_state_is_updated_and_out_is_written():
    fill = RandomFill.infer("integers", TensorSpec("int8", (3,)))
    assert fill.operands == ("state", "low", "high", "out")
    assert fill.roles.states == ("state",)
    assert fill.written == ("state", "out")
    assert fill.specs[0] == STATE


@pytest.mark.parametrize(("dtype", "each"), [("float16", 1), ("float32", 1), ("float64", 2)])
def test_words_are_counted_by_the_size_of_an_element(dtype, each):
    fill = RandomFill.infer("uniform", TensorSpec(dtype, (5, 7)))
    assert fill.words == 35 * each
    assert FAMILY.moved(fill, {"state": np.array([3, 2**64 - 1], np.uint64)})["state"].tolist() == [3, 35 * each - 1]


def test_a_transposed_output_is_visited_in_the_order_of_its_elements():
    out = TensorSpec("float32", (4, 6, 5), (1, 4, 24))
    shape, strides, *_ = RandomFill.infer("uniform", out).geometry
    assert shape == (4, 6, 5)
    assert strides == ((0, 0, 0), (1, 4, 24))


def test_neighbouring_dimensions_that_lie_in_order_are_merged():
    out = TensorSpec("float32", (3, 4, 5, 2), (48, 12, 2, 1), offset=7)
    geometry = RandomFill.infer("uniform", out).geometry
    assert geometry.shape == (12, 10)
    assert geometry.strides[-1] == (12, 1)
    assert geometry.offsets == (0, 7)


def test_numbers_of_a_launch_are_bounded():
    bernoulli = RandomFill.infer("bernoulli", TensorSpec("bool", (3,)))
    integers = RandomFill.infer("integers", TensorSpec("int8", (3,)))
    for p in (-1e-300, 1.0000001, float("nan")):
        with pytest.raises(ValueError, match="p is"):
            bernoulli.check_numbers((p,))
    with pytest.raises(ValueError, match="low 4 is above high 3"):
        integers.check_numbers((4, 3))
    bernoulli.check_numbers((1.0,))
    integers.check_numbers((3, 3))


def test_limits_are_integers_that_kernels_compare_with():
    bernoulli = RandomFill.infer("bernoulli", TensorSpec("bool", (3,)))
    assert [bernoulli.limits((p,))[1] for p in (0.0, 0.5, 2.0**-40, 1.0)] == [0, 2**31, 1, 2**32]
    assert RandomFill.infer("integers", TensorSpec("int64", (3,))).limits((-5, 2**62)) == (2**64 - 5, 2**62 + 5)


def test_cells_are_named_by_the_type_of_the_output():
    names = {str(cell) for cell in FAMILY.cells()}
    assert "random_fill/integers/uint8/strided" in names
    assert "random_fill/bernoulli/bool/rank0" in names
    for cell in FAMILY.cells():
        assert FAMILY.sample(cell).cell == str(cell)
