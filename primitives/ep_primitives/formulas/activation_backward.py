"""The gradients of the activations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.reference import Array

__all__ = ["elu_backward", "gelu_backward", "tanh_backward"]


def tanh_backward(dy: Array, y: Array) -> tuple[Array, Array]:
    """Return dy (1 - y^2) and S = |dy| (1 + y^2); the value as (1 - y)(1 + y), which does not cancel."""
    return dy * ((1 - y) * (1 + y)), np.abs(dy) * (1 + y * y)


def gelu_backward(dy: Array, x: Array) -> tuple[Array, Array]:
    """Return dy (0.5 + 0.5 erf(x / sqrt 2) + x phi(x)) and S, the sum of the three terms' sizes.

    phi is the normal density. At an infinite x the last term is its limit, 0.
    """
    from scipy.special import erf, erfc  # noqa: PLC0415 - scipy belongs to the extra `conformance`

    density = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    tail = np.where(np.isinf(x), 0.0, x) * density
    value = 0.5 * erfc(-x * math.sqrt(0.5)) + tail
    size = 0.5 + 0.5 * np.abs(erf(x * math.sqrt(0.5))) + np.abs(tail)
    return dy * value, np.abs(dy) * size


def elu_backward(dy: Array, x: Array, alpha: float) -> Array:
    """Return dy where x > 0, else dy alpha e^x."""
    return np.where(x > 0, dy, dy * (np.float64(alpha) * np.exp(np.where(x > 0, 0.0, x))))
