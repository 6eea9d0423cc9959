"""The arithmetic of two operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.reference import Array

__all__ = ["div", "maximum", "minimum"]


def div(a: Array, b: Array) -> Array:
    """Return a / b; integers truncate towards zero, x / 0 is 0 and MIN / -1 is MIN."""
    if a.dtype.kind in "fc":
        return np.asarray(a / b)
    by = np.where(b == 0, np.ones_like(b), b)
    quotient = np.floor_divide(a, by)
    # The floor is one too low where the signs differ and a remainder is left. MIN // -1 wraps to MIN.
    quotient += (a - quotient * by != 0) & ((a < 0) != (by < 0))
    return np.where(b == 0, np.zeros_like(a), quotient)


def maximum(a: Array, b: Array) -> Array:
    """Return the larger one; a NaN on either side wins, and +0 is larger than -0."""
    if a.dtype.kind != "f":
        return np.asarray(np.maximum(a, b))
    return np.where((a == 0) & (b == 0), a + b, np.maximum(a, b))


def minimum(a: Array, b: Array) -> Array:
    """Return the smaller one; a NaN on either side wins, and -0 is smaller than +0."""
    if a.dtype.kind != "f":
        return np.asarray(np.minimum(a, b))
    return -maximum(-a, -b)
