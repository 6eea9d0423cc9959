"""Closeness, evaluated in float64 one operation at a time whatever the element type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.reference import Array

__all__ = ["is_close", "is_close_equal_nan"]


def is_close(a: Array, b: Array, atol: float, rtol: float) -> Array:
    """Say where |a - b| <= atol + rtol |b| with a finite difference, or a == b; a, b and every step are float64."""
    left, right = np.asarray(a, np.float64), np.asarray(b, np.float64)
    difference = np.abs(left - right)
    return np.asarray((left == right) | (np.isfinite(difference) & (difference <= atol + rtol * np.abs(right))))


def is_close_equal_nan(a: Array, b: Array, atol: float, rtol: float) -> Array:
    """Say what `is_close` says, and that two NaN are close."""
    return np.asarray(is_close(a, b, atol, rtol) | ((a != a) & (b != b)))  # noqa: PLR0124 - NaN alone differs from itself
