"""The activations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.reference import Array

__all__ = ["elu", "gelu", "relu"]


def relu(x: Array) -> Array:
    """Return 0 where x <= 0, else x: a NaN stays, and -0 becomes +0."""
    return np.where(x <= 0, np.zeros_like(x), x)


def gelu(x: Array) -> Array:
    """Return x * Phi(x) = 0.5 x erfc(-x / sqrt 2), with its limit -0 at -inf, where the product would be NaN."""
    from scipy.special import erfc  # noqa: PLC0415 - scipy belongs to the extra `conformance`

    return np.where(x == -math.inf, -0.0, 0.5 * x * erfc(-x * math.sqrt(0.5)))


def elu(x: Array, alpha: float) -> Array:
    """Return x where x > 0, else alpha (e^x - 1), without the cancellation that subtracting 1 has near 0."""
    return np.where(x > 0, x, np.float64(alpha) * np.expm1(np.where(x > 0, 0.0, x)))
