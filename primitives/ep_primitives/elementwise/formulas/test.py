"""The tests, logical ops and related ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["identity", "logical_not", "nan_assign", "not_equal_zero", "signbit"]


def identity(x: Array) -> Array:
    """Return x."""
    return x


def logical_not(x: Array) -> Array:
    """Return x == 0: a NaN is true, so its negation is false."""
    return np.asarray(x == 0)


def not_equal_zero(x: Array) -> Array:
    """Return x != 0 as 1 or 0 of the type of x: a NaN gives 1."""
    return np.asarray(x != 0).astype(x.dtype)


def signbit(x: Array) -> Array:
    """Return the sign bit, of zeros and NaN too."""
    return np.asarray(np.signbit(x) if x.dtype.kind == "f" else x < 0)


def nan_assign(x: Array) -> Array:
    """Return x, and 0 where it or a part of it is NaN."""
    return np.where(np.isnan(x), 0, x)
