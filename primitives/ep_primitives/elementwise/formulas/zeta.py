"""The Hurwitz zeta function."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["zeta"]


def zeta(x: Array, q: Array) -> Array:
    """Return the sum of (q + k)^-x over k >= 0: inf at x = 1 and where q is 0, -1, -2 ...; NaN where x < 1.

    It is NaN, too, where q < 0 and x is no integer.
    """
    from scipy import special  # noqa: PLC0415 - scipy belongs to the extra `conformance`

    is_nan = np.isnan(x) | np.isnan(q)
    is_pole = (x == 1) | ((x > 1) & (q <= 0) & (q == np.floor(q)))
    is_outside = (x < 1) | ((q < 0) & (x != np.floor(x)))
    return np.select([is_nan, is_pole, is_outside], [math.nan, math.inf, math.nan], special.zeta(x, q))
