"""Quotients and remainders: exact for integers, and for floats the whole part of the exact quotient, rounded once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ep_primitives.elementwise.formulas.extended import extended

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["div", "floor_div", "floor_mod", "fmod", "trunc_div"]

_DIGITS: Final = 53
_SPLITTER: Final = 2.0**27 + 1


@extended
def div(a: Array, b: Array) -> Array:
    """Return a / b; integers truncate towards zero, x / 0 is 0 and MIN / -1 is MIN."""
    return trunc_div(a, b) if a.dtype.kind in "iu" else np.asarray(a / b)


def trunc_div(a: Array, b: Array) -> Array:
    """Return a / b rounded towards zero, for integers as `div`; a zero has the sign of the quotient."""
    if a.dtype.kind == "f":
        quotient = a / b
        return np.where(_is_plain(a, b), np.copysign(_whole(a, b, is_up=np.False_), quotient), np.trunc(quotient))
    by = np.where(b == 0, np.ones_like(b), b)
    quotient = np.floor_divide(a, by)
    # The floor is one too low where the signs differ and a remainder is left. MIN // -1 wraps to MIN.
    quotient += (a - quotient * by != 0) & ((a < 0) != (by < 0))
    return np.where(b == 0, np.zeros_like(a), quotient)


def floor_div(a: Array, b: Array) -> Array:
    """Return a / b rounded down; of integers x / 0 is 0 and MIN / -1 is MIN, of floats a finite a / +-inf is -1, 0 or -0."""
    if a.dtype.kind == "f":
        differ = np.signbit(a) != np.signbit(b)
        whole = _whole(a, b, is_up=differ)
        quotient = np.where(np.isinf(b) & (a != 0) & np.isfinite(a), np.where(differ, -1.0, 0.0), np.floor(a / b))
        return np.where(_is_plain(a, b), np.where(differ, -whole, whole), quotient)
    by = np.where(b == 0, np.ones_like(b), b)
    return np.where(b == 0, np.zeros_like(a), np.floor_divide(a, by))


def fmod(a: Array, b: Array) -> Array:
    """Return a - b trunc(a / b), which is exact and has the sign of a; of integers x mod 0 is x."""
    return np.where((b == 0) & (a.dtype.kind != "f"), a, np.fmod(a, b))


def floor_mod(a: Array, b: Array) -> Array:
    """Return a - b floor(a / b), rounded once, zeros too with the sign of b; of integers x mod 0 is x."""
    if a.dtype.kind != "f":
        return np.where(b == 0, a, np.remainder(a, b))
    left = np.fmod(a, b)
    left = np.where((left != 0) & (np.signbit(left) != np.signbit(b)), left + b, left)
    return np.where(left == 0, np.copysign(left, b), left)


def _is_plain(a: Array, b: Array) -> Array:
    return np.asarray(np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0))


def _whole(a: Array, b: Array, *, is_up: Array | np.bool_) -> Array:
    """Return |a / b| rounded to an integer, down or up, then to nearest even; both are finite and not 0.

    The rounded quotient q alone does not tell: it may be an integer that a / b is not, and from 2^53 on the floor may
    be a tie between two floats that a / b itself is not. The exact remainder a - q b decides both.
    """
    size, exponent = np.frexp(np.abs(a))
    by, other = np.frexp(np.abs(b))
    q, exponent = size / by, exponent - other
    left = _remainder(size, q, by)
    quotient = np.ldexp(q, exponent)
    floor = np.floor(quotient)
    is_integer = floor == quotient
    down = np.where(quotient < 1, 0.0, floor - (is_integer & (left < 0)))
    up = np.where(quotient < 1, 1.0, floor + (~is_integer | (left > 0)))
    near = np.where(is_up, up, down)
    far = np.ldexp(_settled(q, left, by, exponent, is_up), exponent)
    return np.where(quotient <= 2.0**_DIGITS, near, far)


def _settled(q: Array, left: Array, by: Array, exponent: Array, is_up: Array | np.bool_) -> Array:
    """Return the float that the rounded-up or rounded-down quotient is nearest to, where floats are at least 2 apart.

    q is the nearest to the quotient itself. The result differs only where the integer is half-way between q and its
    neighbour, the quotient is not, and q is odd.
    """
    step = np.spacing(q)
    beyond = np.where(is_up, left, -left)
    gap = (step / 2) * by - beyond
    is_within = (gap < np.ldexp(by, -exponent)) | (np.ldexp(step, exponent) == 2)  # noqa: PLR2004 - floats 2 apart
    is_odd = np.fmod(q / step, 2) == 1
    moved = np.where(is_up, q + step, q - step)
    return np.where((beyond > 0) & (gap > 0) & is_within & is_odd, moved, q)


def _remainder(a: Array, q: Array, b: Array) -> Array:
    """Return a - q b exactly, for q the rounded a / b and all of them near 1: Dekker's product, as NumPy has no fma."""
    (q_high, q_low), (b_high, b_low) = _split(q), _split(b)
    product = q * b
    error = ((q_high * b_high - product) + q_high * b_low + q_low * b_high) + q_low * b_low
    return np.asarray((a - product) - error)


def _split(x: Array) -> tuple[Array, Array]:
    high = _SPLITTER * x - (_SPLITTER * x - x)
    return high, x - high
