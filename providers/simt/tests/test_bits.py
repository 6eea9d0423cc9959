"""The bits of a launch's numbers as elements: as NumPy and ml_dtypes round them."""

from __future__ import annotations

import numpy as np
import pytest
from ep.dtypes import DTYPES
from ep_primitives.judging.reference import array_dtype
from ep_simt.bits import number_bits, pattern

_FLOATS = [name for name, row in DTYPES.items() if row.is_floating]
_ENDS = [0, -0.0, np.inf, -np.inf, 448, 464, 465, 480, 57344, 61440, 65504, 65519, 65520]
_LEAST = [2.0**-power * part for power in (9, 10, 16, 17, 24, 25, 126, 149) for part in (1, -1.5)]


def numbers():
    """Return float32 numbers of any bits, of usual sizes, and where the types begin and end."""
    rng = np.random.default_rng(0)
    any_bits = rng.integers(0, 2**32, 4000, np.uint32).view(np.float32)
    usual = (rng.standard_normal(4000) * np.exp(rng.uniform(-12, 12, 4000))).astype(np.float32)
    return np.concatenate([any_bits, usual, np.array(_ENDS + _LEAST, np.float32)])


@pytest.mark.parametrize("dtype", _FLOATS)
def test_bits_of_a_float_are_those_of_an_array(dtype):
    given = numbers()
    with np.errstate(all="ignore"):
        want = given.astype(array_dtype(dtype))
    got = np.frombuffer(
        b"".join(pattern(dtype, float(number))[: want.itemsize] for number in given), f"u{want.itemsize}"
    )
    is_nan = np.isnan(given)
    assert np.array_equal(got[~is_nan], want.view(got.dtype)[~is_nan])
    assert np.isnan(got[is_nan].view(want.dtype).astype(np.float32)).all()


@pytest.mark.parametrize(
    ("dtype", "number", "want"),
    [
        ("bool", True, 1),
        ("int8", -1, 0xFF),
        ("int64", -2, 2**64 - 2),
        ("uint64", 2**64 - 1, 2**64 - 1),
        ("complex64", complex(1, -0.0), 0x80000000_3F800000),
        ("complex128", complex(-1, 2), 0x4000000000000000_BFF0000000000000),
    ],
)
def test_bits_of_a_number(dtype, number, want):
    assert pattern(dtype, number) == want.to_bytes(16, "little")


def test_argument_is_the_number_at_a_place():
    made = number_bits("int16", 1)
    (given,) = made.make((7, -2))
    assert given == (0xFFFE).to_bytes(16, "little")
    assert made.width == 1
