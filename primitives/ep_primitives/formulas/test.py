"""The tests, logical and bitwise ops, and the identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.reference import Array

__all__ = ["logical_not"]


def logical_not(x: Array) -> Array:
    """Return x == 0: a NaN is true, so its negation is false."""
    return np.asarray(x == 0)
