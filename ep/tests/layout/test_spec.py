"""TensorSpec, dimension merging and scalars."""

from __future__ import annotations

import itertools
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from ep.dtypes import convert
from ep.layout.dims import broadcast_strides, merge
from hypothesis import given
from hypothesis import strategies as st
from layouts import places, specs

import ep


@given(specs)
def test_span_is_what_is_touched(parts):
    shape, strides, offset = parts
    spec = ep.TensorSpec("float32", tuple(shape), tuple(strides), offset)
    touched = places(spec)
    assert spec.size == len(touched)
    if touched:
        assert (spec.lo, spec.hi) == (min(touched), max(touched) + 1)
        assert spec.nbytes == 4 * spec.hi
    else:
        assert spec.nbytes == 0


@given(specs)
def test_merged_geometry_visits_the_same_pairs(parts):
    shape = tuple(parts[0])
    strides = tuple(parts[1])
    x = ep.TensorSpec("float32", shape, strides, parts[2])
    out = ep.TensorSpec("float32", shape)
    geometry = merge(out, (x, out))
    inner = [
        tuple(
            offset + sum(i * s for i, s in zip(index, operand, strict=True))
            for offset, operand in zip(geometry.offsets, geometry.strides, strict=True)
        )
        for index in itertools.product(*map(range, geometry.shape))
    ]
    assert sorted(inner) == sorted(zip(places(x), places(out), strict=True))
    assert 1 not in geometry.shape


def test_dense_tensors_of_any_rank_merge_to_one_dimension():
    spec = ep.TensorSpec("float32", (1, 3, 1, 4, 5))
    assert merge(spec, (spec, ep.Scalar("float32"), spec)).shape == (60,)
    assert merge(spec, (spec, spec)).is_dense
    assert merge(spec, (spec, ep.Scalar("float32"), spec)).is_dense
    repeated = ep.TensorSpec("float32", (1, 3, 1, 4, 5), (0, 0, 0, 0, 0))
    assert not merge(spec, (repeated, spec)).is_dense
    turned = ep.TensorSpec("float32", (3, 4), (1, 3))
    assert merge(turned, (turned, turned)) == ((12,), ((1,), (1,)), (0, 0), 12, True)


def test_broadcast_aligns_from_the_right():
    assert broadcast_strides(ep.TensorSpec("int8", (3, 1)), (2, 3, 4)) == (0, 1, 0)
    for shape in ((2, 3), (4, 2, 3, 4)):
        with pytest.raises(ValueError, match="does not broadcast"):
            broadcast_strides(ep.TensorSpec("int8", shape), (2, 3, 4))


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        (("float31", (1,)), ValueError, "give one of bool"),
        ((float, (1,)), TypeError, "needs an element type; give a name"),
        (("float32", (-1,)), ValueError, "below 0"),
        (("float32", (1.5,)), TypeError, "integers"),
        (("float32", (1,) * 17), ValueError, "at most 16"),
        (("float32", (2**29, 2**29 + 1)), ValueError, r"up to byte 1152921506754330624; at most 2\*\*60 bytes"),
        (("float32", (2**29, 2**30), (0, 0)), ValueError, "has 576460752303423488 elements, up to byte 4;"),
        (("int8", (2,), None, 2**60), ValueError, "up to byte 1152921504606846978;"),
        (("float32", (2, 2), (1,)), ValueError, "differ in length"),
        (("float32", (2,), (-1,)), ValueError, "offset of at least 1"),
        (("float32", (2,), None, -1), ValueError, "offset of at least 0"),
        (("float32", (2,), None, 1.0), TypeError, "offset"),
        (("float32", 4), TypeError, "shape 4 is not a sequence"),
        (("float32", (2,), 1), TypeError, "strides 1 is not a sequence"),
    ],
)
def test_wrong_specs_are_refused_with_the_cure(arguments, kind, text):
    with pytest.raises(kind, match=text):
        ep.TensorSpec(*arguments)


def test_specs_are_frozen_values():
    spec = ep.TensorSpec("float32", (2, 3))
    same = ep.TensorSpec("float32", (2, 3), (3, 1), 0)
    assert spec == same
    assert hash(spec) == hash(same)
    assert spec != ep.TensorSpec("float32", (2, 3), (1, 2))
    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(AttributeError, match="frozen"):
        spec.shape = (1,)
    with pytest.raises(AttributeError, match="frozen"):
        ep.Scalar("int8").dtype = "int16"
    with pytest.raises(TypeError, match=r"^Scalar: dtype is <class 'float'>, needs an element type"):
        ep.Scalar(float)


def test_scalars_are_never_rounded_to_an_integer_and_never_wrap():
    assert convert("int8", -128.0) == -128
    assert convert("float32", 0.1) == 0.10000000149011612
    assert convert("bool", 2) is True
    assert convert("float32", float("inf")) == float("inf")
    for name, value in (("int8", 128), ("uint8", -1), ("int32", 0.5), ("float32", 1e39), ("int32", float("nan"))):
        with pytest.raises(ValueError, match=name):
            convert(name, value)
    assert convert("float32", np.float64(0.5)) == 0.5
    assert convert("complex64", np.complex64(1 + 2j)) == 1 + 2j
    with pytest.raises(ValueError, match="no float32 holds exactly"):
        convert("float32", 2**24 + 1)
    for value in (1j, np.complex64(1j), "3", b"3", bytearray(b"3"), None):
        with pytest.raises(TypeError, match="int32"):
            convert("int32", value)
        with pytest.raises(TypeError, match="float32"):
            convert("float32", value)


def test_span_may_have_all_bytes_that_are_supported():
    assert ep.TensorSpec("int8", (2**60,)).nbytes == 2**60


def test_strides_that_are_never_crossed_do_not_tell_specs_apart():
    assert ep.TensorSpec("float32", (1, 3), (99, 1)) == ep.TensorSpec("float32", (1, 3))
    assert ep.TensorSpec("float32", (0, 3), (99, 7)) == ep.TensorSpec("float32", (0, 3))
    assert ep.TensorSpec("float32", (2, 1, 3), (3, -5, 1)).is_dense
    assert ep.TensorSpec("float32", (2, 1, 3), (6, 77, 2)) == ep.TensorSpec("float32", (2, 1, 3), (6, 1, 2))


class Liar:
    """Its special methods raise, or return what they must not."""

    def __init__(self, lie=None):
        self.lie = lie

    def __index__(self):
        if self.lie is None:
            raise ZeroDivisionError
        return self.lie

    __iter__ = __len__ = __hash__ = __eq__ = __repr__ = __float__ = __index__


LONG = 1 << 3_400_000
NUMBERS = (LONG, -LONG, 2**64, -(2**64), 10**40, Liar(), Liar(LONG), Liar("1"), 1.5, "2", None, float("nan"))
SEQUENCES = (range(2**62), itertools.count(), itertools.repeat(1), [1] * 10**6, Liar(), Liar(3))
SCALARS = (
    LONG,
    Liar(),
    Liar("x"),
    Decimal("1e999999999"),
    Decimal("sNaN"),
    Fraction(10**400),
    np.zeros(2),
    "1" * 10**6,
)


def outcome(call, *arguments, **words):
    """Return what a call returns, or the sentence that refuses it."""
    try:
        return call(*arguments, **words)
    except (TypeError, ValueError) as refusal:
        return str(refusal)


@pytest.mark.parametrize("place", range(len(SEQUENCES)))
@pytest.mark.parametrize("argument", ["shape", "strides"])
def test_iterables_are_read_no_further_than_there_are_dimensions(argument, place):
    with pytest.raises(
        (TypeError, ValueError), match=rf"^TensorSpec: {argument} .{{1,240}} (has more than 16|is not a)"
    ):
        ep.TensorSpec("float32", **{"shape": (2,), argument: SEQUENCES[place]})


@pytest.mark.parametrize("place", range(len(NUMBERS)))
def test_numbers_that_no_tensor_has_end_in_a_sentence(place):
    number = NUMBERS[place]
    for arguments in (((number,),), ((2, number),), ((0, number),), ((2,), (number,)), ((2,), None, number)):
        with pytest.raises((TypeError, ValueError), match=r"^TensorSpec: .{1,1000}; ") as refusal:
            ep.TensorSpec("float32", *arguments)
        assert len(str(refusal.value)) < 1500


numbers = st.one_of(
    st.integers(),
    st.integers(0, len(NUMBERS) - 1).map(NUMBERS.__getitem__),
    st.sampled_from((0, 1, 2, 2**59, 2**60, 2**62, 2**63, -1)),
)
dtypes = st.sampled_from(("float32", "int8", "complex128"))


@given(dtypes, st.lists(numbers, max_size=18), st.lists(numbers, max_size=18), numbers)
def test_a_spec_is_made_of_integers_of_64_bits_or_refused(dtype, shape, strides, offset):
    for words in ({}, {"strides": tuple(strides)}, {"offset": offset}, {"strides": strides, "offset": offset}):
        spec = outcome(ep.TensorSpec, dtype, tuple(shape), **words)
        if isinstance(spec, str):
            assert spec.startswith("TensorSpec: ")
            assert len(spec) < 1500
        else:
            assert max([0, spec.hi, *map(abs, spec.strides), *spec.shape]) <= 2**60
            assert len(repr(spec)) < 1500


def test_an_empty_tensor_has_no_larger_extents_than_others():
    assert ep.TensorSpec("int8", (0, 2**60)).nbytes == 0
    assert ep.TensorSpec("float32", (2**30, 0, 2**28)).strides == (0, 2**28, 1)
    with pytest.raises(ValueError, match=r"has no elements, and its other extents need more than 2\*\*60 bytes"):
        ep.TensorSpec("float32", (0, 2**60))
    with pytest.raises(ValueError, match="has no elements"):
        ep.TensorSpec("int8", (2**40, 0, 2**40))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64"])
@pytest.mark.parametrize("place", range(len(SCALARS)))
def test_hostile_scalars_end_in_a_sentence(dtype, place):
    value = outcome(convert, dtype, SCALARS[place])
    if isinstance(value, str):
        assert value.startswith("scalar ")
        assert len(value) < 500
    else:
        assert dtype == "bool" or value in {float("inf"), Decimal("1e999999999")}


def test_specs_and_scalars_lose_no_attribute():
    for value in (ep.TensorSpec("int8", (2,)), ep.Scalar("int8")):
        with pytest.raises(AttributeError, match="frozen"):
            del value.dtype
