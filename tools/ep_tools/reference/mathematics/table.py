"""What one table is made of, and how its values are rounded correctly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import mpmath

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

__all__ = ["START", "Number", "Point", "Table", "evaluate"]

Number = Any
"""An mpmath number; mpmath is not annotated."""

Point = tuple[float, ...] | tuple[complex, ...]
"""The inputs of one evaluation."""

START: Final = 160
_END: Final = 16 * START
_AGREEMENT: Final = 80
_SMALLEST: Final = 1080


@dataclass(frozen=True)
class Table:
    """How one table is made.

    points     : from a generator to the inputs
    value      : from the inputs, mpmath numbers or Python's complex ones, whose zeros have a sign, then the attributes,
                 to the result or to (result, S)
    attributes : float64 numbers that all points share
    """

    points: Callable[[random.Random], Iterator[Point]]
    value: Callable[..., Any]
    attributes: tuple[float, ...] = ()


def evaluate(table: Table, point: Point, precision: int = START) -> tuple[float, ...]:
    """Return the result, real and imaginary part if it is complex, then S if there is one, each rounded correctly.

    The precision is doubled until two results agree to 80 bits and round alike with these uncertain, so cancellation
    cannot hide; a zero or a tie needs 2560 bits. Raises ArithmeticError if they never agree.
    """
    before = _parts(table, point, precision)
    while precision < _END:
        precision *= 2
        after = _parts(table, point, precision)
        if all(_settled(old, new, precision) for old, new in zip(before, after, strict=True)):
            return tuple(map(rounded, after))
        before = after
    message = f"{point}: {before} does not settle within {_END} bits"
    raise ArithmeticError(message)


def rounded(number: Number) -> float:
    """Return the float64 nearest to an mpmath number, ties to even, subnormals included.

    Division of Python integers is correctly rounded; mpmath's own conversion rounds a subnormal twice.
    """
    sign, mantissa, exponent, _ = number._mpf_
    if not mantissa:
        return float(number)
    numerator = -int(mantissa) if sign else int(mantissa)
    try:
        return float(numerator << exponent) if exponent >= 0 else numerator / (1 << -exponent)
    except OverflowError:
        return -math.inf if sign else math.inf


def _parts(table: Table, point: Point, precision: int) -> list[Number]:
    with mpmath.workprec(precision):
        inputs = (x if isinstance(x, complex) else mpmath.mpf(x) for x in point)
        result = table.value(*inputs, *map(mpmath.mpf, table.attributes))
        parts = []
        for number in result if isinstance(result, tuple) else (result,):
            parts += [number.real, number.imag] if isinstance(number, mpmath.mpc) else [mpmath.mpf(number)]
        return parts


def _settled(old: Number, new: Number, precision: int) -> bool:
    is_last = precision >= _END
    with mpmath.workprec(precision):
        margin = mpmath.ldexp(abs(new), -_AGREEMENT)
        if max(abs(old), abs(new)) < mpmath.ldexp(1, -_SMALLEST):
            return bool(new) or is_last
        if abs(new - old) > margin:
            return False
        # Only the last digits tell on which side of a tie a result lies.
        return is_last or rounded(new - margin) == rounded(new + margin)
