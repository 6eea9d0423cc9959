"""The kernel key: what compiled code may depend on, and nothing else."""

from __future__ import annotations

import manual
import pytest

import ep


def key(x, out=None):
    return manual.Negate(x=x, out=out or x).key


def spec(dtype="int8", shape=(64,), strides=None, offset=0):
    return ep.TensorSpec(dtype, shape, strides, offset)


@pytest.mark.parametrize(
    ("extent", "bucket"), [(1, 1), (2, 2), (3, 2), (4, 4), (7, 4), (31, 16), (63, 32), (64, 64), (65, 64), (10**6, 64)]
)
def test_extent_is_the_power_of_two_at_or_below_up_to_64(extent, bucket):
    assert key(spec(shape=(extent,))).extent == bucket


def test_extent_is_that_of_the_innermost_merged_dimension():
    assert key(spec(shape=(2, 3, 8), strides=(100, 16, 1))).extent == 8
    assert key(spec(shape=(2, 3, 8), strides=(100, 8, 1))).extent == 16


def test_extent_of_an_empty_tensor_is_one():
    assert key(spec(shape=(4, 0))).extent == 1


@pytest.mark.parametrize(
    ("dtype", "offset", "alignment"),
    [("int8", 0, 16), ("int8", 1, 1), ("int8", 4, 4), ("int32", 1, 4), ("int32", 4, 16)],
)
def test_alignment_is_what_divides_the_offset_in_bytes(dtype, offset, alignment):
    assert key(spec(dtype, offset=offset)).alignment == alignment


@pytest.mark.parametrize(("row", "alignment"), [(65, 1), (66, 2), (68, 4), (72, 8), (80, 16)])
def test_alignment_is_what_divides_the_outer_strides(row, alignment):
    assert key(spec(shape=(2, 64), strides=(row, 1))).alignment == alignment


def test_alignment_is_that_of_the_worst_operand():
    assert key(spec(), spec(offset=2)).alignment == 2
    assert key(spec(offset=2), spec()).alignment == 2


def test_alignment_ignores_the_inner_stride():
    assert key(spec(shape=(64,), strides=(3,))).alignment == 16


def test_wide_by_the_number_of_elements():
    row = spec(shape=(2**31 - 1,), strides=(0,))
    assert not key(row, spec(shape=(2**31 - 1,))).wide
    assert key(spec(shape=(2**31,), strides=(0,)), spec(shape=(2**31,))).wide


def test_wide_by_the_span_of_any_operand():
    far = spec(shape=(2,), strides=(2**31 - 1,))
    near = spec(shape=(2,), strides=(2**31 - 2,))
    assert key(far, spec(shape=(2,))).wide
    assert key(spec(shape=(2,)), far).wide
    assert not key(near, spec(shape=(2,))).wide


def test_layout_is_dense_only_if_every_tensor_is_over_one_dimension():
    assert key(spec(shape=(4, 4))).layout == "dense"
    assert key(spec(offset=3)).layout == "dense"
    assert key(spec(shape=(4,), strides=(2,)), spec(shape=(4,))).layout == "strided"
    assert key(spec(shape=(4,)), spec(shape=(4,), strides=(2,))).layout == "strided"
    assert key(spec(shape=(4, 4), strides=(8, 1))).layout == "strided"


def test_scalars_say_which_operands_are_numbers():
    assert manual.Scale(x=spec("int32"), out=spec("int32")).key.scalars == (True, False, False)
    assert key(spec()).scalars == (False, False)


def test_dtypes_are_of_every_operand_in_order():
    found = manual.Add(a=spec("float16"), b=spec("int32"), out=spec("int8")).key
    assert (found.dtypes, found.compute) == (("float16", "int32", "int8"), "float32")


def test_shapes_of_one_class_share_a_key_and_ops_do_not():
    assert key(spec(shape=(64,))) == key(spec(shape=(1000,))) == key(spec(shape=(10, 100)))
    assert manual.Negate(x=spec(), out=spec(), op="other").key != key(spec())
