"""What messages show of values: short, and no error of its own, whatever the value is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from ep.ground.glimpse import glimpse, told


class Mute:
    def __repr__(self):
        raise ZeroDivisionError

    __str__ = __repr__


class Loud:
    def __repr__(self):
        return "x" * 10**6


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        ("float32", "'float32'"),
        ((2, 3), "(2, 3)"),
        ([1 << 10**6], "[<an integer of 1000001 bits>]"),
        (Mute(), "<Mute instance at"),
        ([Mute()], "[<Mute instance at"),
        (b"ab", "b'ab'"),
        (range(2**62), "range(0, 4611686018427387904)"),
        (nested(5000), "[[[[...]]]]"),
    ],
)
def test_a_glimpse_is_the_repr_of_what_is_short(value, text):
    assert glimpse(value).startswith(text)


def test_long_integers_are_told_by_their_length():
    assert glimpse(10**40) == "100000000000000000...0000000000000000000"
    assert glimpse(1 << 10**6) == "<an integer of 1000001 bits>"


def test_a_glimpse_is_short():
    for value in (
        Loud(),
        "x" * 10**6,
        bytes(10**6),
        [1] * 10**6,
        {Loud(): Loud() for _ in range(99)},
        itertools.count(),
    ):
        assert len(glimpse(value)) <= 240


def test_what_others_say_is_one_line():
    assert told(ValueError("two\n   lines")) == "two lines"
    assert told(ValueError()) == "ValueError"
    assert told(ValueError(Mute())) == "ValueError"
    assert len(told(ValueError(Loud()))) <= 480
    assert told(np.dtype(">f4")) == ">f4"
