"""Sensitivity: a comparison has to reject an element just outside its bound, and to accept one well inside.

The bound of that one element is worked out here once more, in Python's floats and from the definitions alone, so that a
comparison that became too slack or too strict is found by every case that it judges.
"""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from ep_primitives.judging.accuracy import Conditioned, Exact, Ulps

import ep
from ep_conformance.judge.ulp import Format, format_of, part_of, rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.reference import Reference

    from ep_conformance.judge.compare import Comparison

__all__ = ["misjudged"]

_MOST_SIZE: Final = 1 << 20
_BEYOND: Final = 1.5
"""How many bounds a wrong element is away from its reference, before it is rounded to a number of its type."""
_JUST: Final = 1.25
"""How many bounds it is away at least, after that rounding."""
_WITHIN: Final = 0.4
"""How many bounds a right element is away, before it is rounded towards its reference."""
_HALF: Final = 0.5

Array = npt.NDArray[Any]


def misjudged(
    identity: str,
    expected: Array,
    reference: Reference,
    accuracy: Accuracy,
    measure: Callable[[Array], Comparison],
) -> str:
    """Return the element that the comparison judges wrongly, in words; "" if there is none.

    identity : decides which elements are tried: one outside of its bound, and if there are more, one inside
    expected : the right result
    measure  : compares a result with the reference; without flushing, which is looked at only where this fails

    A reference that is not finite has no bound. The wrong result is then a number for NaN, the largest number for an
    infinity, and NaN for an overflow. An element whose bound exceeds the range of its type is tried with NaN, too.
    """
    if not 0 < expected.size <= _MOST_SIZE:
        return ""
    dice = zlib.crc32(identity.encode())
    at, other = dice % expected.size, dice // 7 % expected.size
    tried = expected.copy().reshape(-1)
    element = _Element(expected, reference, accuracy, at)
    tried[at] = element.outside(upwards=bool(dice >> 5 & 1))
    if other != at:
        tried[other] = _Element(expected, reference, accuracy, other).inside()
    fails = measure(tried.reshape(expected.shape)).fails.reshape(-1)
    if not fails[at]:
        return f"{element.text(tried[at])} would pass"
    wrong = np.flatnonzero(fails)
    if wrong.size > 1:
        at = int(wrong[wrong != at][0])
        return f"{_Element(expected, reference, accuracy, at).text(tried[at])} would fail"
    return ""


class _Element:
    """One element of the right result, and how far from its reference a result may be."""

    def __init__(self, expected: Array, reference: Reference, accuracy: Accuracy, at: int) -> None:
        self.at = np.unravel_index(at, expected.shape)
        self.dtype = ep.dtype(expected.dtype.name)
        self.right = expected[self.at]
        self.true: Any = np.broadcast_to(reference.value, expected.shape)[self.at]
        self.accuracy = accuracy
        scale = None if reference.scale is None else np.broadcast_to(reference.scale, expected.shape)[self.at]
        self.reach = self._reach(scale, reference.error) if self.dtype.kind in "fc" else 0.0

    def text(self, given: Any) -> str:
        """Return the element with its reference and its bound."""
        place = ", ".join(map(str, self.at))
        return f"{given} at [{place}], where {self.true} is right and {self.accuracy} allows {self.reach:.4g} more or less,"

    def outside(self, *, upwards: bool) -> Any:
        """Return a wrong result, no further from the reference than the type makes it."""
        if self.dtype.kind == "b":
            return not self.right
        if self.dtype.kind in "iu":
            with np.errstate(over="ignore"):
                return self.right + self.right.dtype.type(1)
        if self.dtype.kind == "c":
            return self._complex_outside(upwards=upwards)
        if not np.isfinite(self.right):
            return self._beside_infinity(self.right)
        return self._part_outside(self.right, float(self.true), upwards=upwards)

    def inside(self) -> Any:
        """Return a right result that is as far from the reference as 0.4 of its bound and the type allow."""
        if self.dtype.kind != "f" or isinstance(self.accuracy, Exact) or not np.isfinite(self.right):
            return self.right
        true = float(self.true)
        reach = self.reach - (_HALF * _ulp(true, format_of(self.dtype.name)) if self.dtype.name == "float64" else 0.0)
        near = rounded(np.asarray(true + _WITHIN * reach), self.dtype.name)[()]
        if np.isfinite(near) and float(near) > true + _WITHIN * reach:
            near = _step(near, -1)
        return near if np.isfinite(near) and float(near) > true else self.right

    def _reach(self, scale: Any, error: float) -> float:
        """Return what the accuracy allows at this element, absolutely; 0 if it is exact."""
        form = format_of(part_of(self.dtype.name))
        ulp = _ulp(math.hypot(complex(self.true).real, complex(self.true).imag), form)
        if isinstance(self.accuracy, Ulps):
            return max((self.accuracy.n + error) * ulp, self.accuracy.floor)
        if isinstance(self.accuracy, Conditioned) and scale is not None:
            eps = math.ldexp(1.0, -ep.dtype(self.dtype.compute).fraction)
            terms = self.accuracy.k * eps * float(scale)
            return (terms if math.isfinite(terms) else 0.0) + (_HALF + error) * ulp
        return 0.0

    def _complex_outside(self, *, upwards: bool) -> Any:
        """Return the right result with a wrong real part; 0 where one part may be no number."""
        if not (np.isfinite(self.right.real) and np.isfinite(self.right.imag)):
            return self.right.dtype.type(0)
        real = self._part_outside(self.right.real, complex(self.true).real, upwards=upwards)
        return self.right.dtype.type(complex(float(real), float(self.right.imag)))

    def _beside_infinity(self, right: Any) -> Any:
        if np.isnan(right):
            return right.dtype.type(1)
        return np.nan if math.isfinite(float(self.true)) else _step(right, -1 if right > 0 else 1)

    def _part_outside(self, right: Any, true: float, *, upwards: bool) -> Any:
        for sign in _directions(upwards=upwards):
            wrong = rounded(np.asarray(true + sign * _BEYOND * self.reach), right.dtype.name)[()]
            while np.isfinite(wrong) and (abs(float(wrong) - true) < _JUST * self.reach or wrong == right):
                wrong = _step(wrong, sign)
            if np.isfinite(wrong):
                return wrong
        return right.dtype.type(np.nan)


def _directions(*, upwards: bool) -> Iterator[int]:
    yield 1 if upwards else -1
    yield -1 if upwards else 1


def _ulp(value: float, form: Format) -> float:
    """Return one unit in the last place: the spacing of the binade, and at a power of two of the one below."""
    if value == 0 or not math.isfinite(value):
        return form.smallest_subnormal
    fraction, exponent = math.frexp(abs(value))
    binade = exponent - 2 if fraction == _HALF else exponent - 1
    return math.ldexp(1.0, max(binade, form.emin - 1) - (form.digits - 1))


def _step(value: Any, sign: int) -> Any:
    """Return the next number of a type, upwards or downwards, by its bits: any binary format has them in order."""
    word = np.dtype(f"i{value.dtype.itemsize}")
    bits = int(value.reshape(1).view(word)[0])
    top = 1 << (8 * word.itemsize - 1)
    place = bits if bits >= 0 else -(bits + top)
    place += sign
    bits = place if place >= 0 else -place - top
    return np.array([bits], word).view(value.dtype)[0]
