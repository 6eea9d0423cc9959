"""Closeness, evaluated in float64 one operation at a time; the difference of integers is exact first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["is_close", "is_close_equal_nan"]


def is_close(a: Array, b: Array, atol: float, rtol: float) -> Array:
    """Say where |a - b| <= atol + rtol |b| with a finite difference, or a == b; every step but a - b of integers is float64."""
    difference = _difference(a, b)
    bound = atol + rtol * np.abs(np.asarray(b, np.float64))
    return np.asarray((a == b) | (np.isfinite(difference) & (difference <= bound)))


def _difference(a: Array, b: Array) -> Array:
    """Return |a - b|; of integers as the unsigned one of their size, which holds it, so that it is rounded once."""
    if a.dtype.kind == "f":
        return np.asarray(np.abs(a - b))
    unsigned = f"u{a.dtype.itemsize}"
    left, right = (np.asarray(each).astype(unsigned) for each in (a, b))
    return np.asarray(np.where(a > b, left - right, right - left)).astype(np.float64)


def is_close_equal_nan(a: Array, b: Array, atol: float, rtol: float) -> Array:
    """Return the same as `is_close`, but True for two NaN."""
    return np.asarray(is_close(a, b, atol, rtol) | ((a != a) & (b != b)))  # noqa: PLR0124 - NaN alone differs from itself
