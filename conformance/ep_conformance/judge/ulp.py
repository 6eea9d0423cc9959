"""The error of floating results in units of the last place, as Khronos' OpenCL-CTS defines it.

Rule numbers are those of OpenCL-CTS `Ulp_Error`, `Ulp_Error_Half` and `Ulp_Error_Double`, in its order.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

__all__ = ["Format", "complex_error", "equals", "format_of", "numpy_dtype", "part_of", "rounded", "ulp_error", "unit"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Format:
    """A binary floating format: `digits` and `emin` are C's mantissa digits and MIN_EXP, `emax` its MAX_EXP."""

    digits: int
    emin: int
    emax: int

    @property
    def smallest_normal(self) -> float:
        """The smallest positive normal value."""
        return 2.0 ** (self.emin - 1)

    @property
    def smallest_subnormal(self) -> float:
        """The smallest positive value."""
        return 2.0 ** (self.emin - self.digits)


@functools.cache
def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return the NumPy dtype of an element type of EP, from ml_dtypes where NumPy lacks it."""
    return np.dtype(getattr(ml_dtypes, name, name))


@functools.cache
def format_of(name: str) -> Format:
    """Return the format of a floating element type."""
    info: Any = ml_dtypes.finfo(numpy_dtype(name))  # type: ignore[no-untyped-call]
    return Format(int(info.nmant) + 1, int(info.minexp) + 1, int(info.maxexp))


def part_of(name: str) -> str:
    """Return the element type of the parts of a complex type; a real type is its own part."""
    return {"complex64": "float32", "complex128": "float64"}.get(name, name)


def rounded(reference: Array, name: str) -> Array:
    """Return the reference rounded once, to nearest even, in the element type.

    What is too large becomes an infinity, or NaN where the type has no infinity.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        array = np.asarray(reference)
        into = numpy_dtype(name)
        if array.dtype == np.float64 and into.type.__module__ == "ml_dtypes":
            array = _rounded_to_odd(array)  # ml_dtypes goes through float32, and would round twice
        return np.asarray(array.astype(into))


def _rounded_to_odd(wide: Array) -> Array:
    """Return float32 with its last bit set wherever anything was lost, so that rounding it again loses nothing."""
    near = np.asarray(wide.astype(np.float32))
    lost = np.isfinite(near) & (near.astype(np.float64) != wide)
    above = lost & (np.abs(near.astype(np.float64)) > np.abs(wide))
    odd: Array = ((near.view(np.uint32) - above) | lost).astype(np.uint32).view(np.float32)
    return odd


def equals(result: Array, expected: Array) -> npt.NDArray[np.bool_]:
    """Say element by element whether two arrays of one type have the same bits; a NaN equals any NaN.

    Complex numbers are equal if both of their parts are.
    """
    if result.dtype.kind == "c":
        return equals(result.real, expected.real) & equals(result.imag, expected.imag)
    with np.errstate(invalid="ignore"):
        same = (result == expected) & (np.signbit(result) == np.signbit(expected))
        return np.asarray(same | (np.isnan(result) & np.isnan(expected)))


def unit(reference: Array, name: str) -> Array:
    """Return the size of one ulp at each reference value.

    Rule 5: the spacing of the binade, and below an exact power of two or zero the smaller one. Rule 6: never less than
    the smallest subnormal.
    """
    form = format_of(name)
    with np.errstate(invalid="ignore"):
        fraction, exponent = np.frexp(np.abs(reference))
    # frexp gives [0.5, 1), so the binade's exponent is one less; at a power of two the binade below counts.
    binade = exponent - 1 - (fraction == 0.5)  # noqa: PLR2004 - frexp's mantissa of a power of two
    binade = np.where((reference == 0) | ~np.isfinite(reference), form.emin - 1, binade)
    return np.asarray(np.ldexp(np.ones_like(reference), np.maximum(binade, form.emin - 1) - (form.digits - 1)))


def ulp_error(result: Array, reference: Array, name: str) -> Array:
    """Return the signed error of each result in ulps of its reference; a NaN means that no bound accepts it.

    result    : values of element type `name`
    reference : the true values in a wider type; for float64 a long double, or a float64 that is correctly rounded

    Compare with `abs(error) <= bound`, which a NaN fails.
    """
    wide = np.result_type(reference, np.float64)
    ref = np.asarray(reference, wide)
    form = format_of(name)
    is_double = form.digits == format_of("float64").digits
    with np.errstate(all="ignore"):  # a signalling NaN, too
        got = np.asarray(result).astype(wide)
        if not is_double:  # rule 3: as if the format went on, so that overflow is judged by the same bound
            early = np.isinf(got) & np.isfinite(ref)
            got = np.where(early, np.copysign(np.asarray(2.0, wide) ** form.emax, got), got)
        # Rules 2, 4, 7 and 8: an infinite reference is infinitely far, a NaN stays, the sign of a zero is invisible.
        error = (got - ref) / unit(ref, name)
        if is_double:  # rule 3, of the largest number: an infinity is next to it
            is_next = (np.abs(ref) == np.finfo(np.float64).max) & (got == np.copysign(np.inf, ref))
            error = np.where(is_next, np.copysign(1.0, ref), error)
        if is_double and wide == np.float64:  # rule 7: the reference is no wider, so half a unit is unknown
            error = error + np.copysign(0.5, error)
        fine = equals(np.asarray(result), rounded(ref, name))  # rule 1, and 4: a NaN equals any
        fine |= got == ref
    return np.asarray(np.where(fine, 0.0, error), np.float64)


def complex_error(result: Array, reference: Array, name: str) -> Array:
    """Return |result - reference| in ulps of the part type at |reference|; a NaN means that no bound accepts it.

    result    : values of element type `name`
    reference : the true values as complex128

    Where the reference, rounded, has an infinite or NaN part, any result with one will do: which of the two parts gets
    it, and with which sign, depends on the formula.
    """
    part = part_of(name)
    ref = np.asarray(reference, np.complex128)
    got = np.asarray(result).astype(np.complex128)
    with np.errstate(all="ignore"):
        distance = got - ref
        error = np.hypot(distance.real, distance.imag) / unit(np.hypot(ref.real, ref.imag), part)
        is_beyond = ~np.isfinite(rounded(ref, name))
        error = np.where(is_beyond, np.where(np.isfinite(got), np.nan, 0.0), error)
        error = np.where(np.isfinite(got) | is_beyond, error, np.nan)
    return np.asarray(np.where(equals(np.asarray(result), rounded(ref, name)), 0.0, error), np.float64)
