"""References of the softmaxes and their backward forms in a wider type, and how far a right result may be from them.

Every bound is eps S with S summed up here from single roundings, of which each is at most eps / 2, to first order.
exp and log are taken as good as their rows promise. A sum costs half of the height of its tree in eps of the sum of the
terms' magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.2).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.judging.accuracy import Accuracy, Conditioned
from ep_primitives.judging.reference import Array, Reference, limits, widened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.descriptors.axis_descriptor import AxisDescriptor

__all__ = ["BOUND", "log_softmax", "reference", "softmax"]

BOUND: Final[Accuracy] = Conditioned(
    1,
    why="S is the sum of all roundings of the definition, exp and log as their rows promise, sums as trees that add 64 terms one "
    "by one: Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.2",
)

_EXP: Final = 3.0
_LOG: Final = 3.0
"""Errors in eps that the rows exp and log promise."""

_CHAIN: Final = 64

_LONG_EPS: Final = float(np.finfo(np.longdouble).eps / np.finfo(np.float64).eps)
"""2^-11 where a long double has 64 bits of fraction; 1 where it is no wider, and a reference as inexact as a result."""

_Rows = tuple[Array, Array]


def reference(descriptor: AxisDescriptor, inputs: Mapping[str, Any]) -> Reference:
    """Return the definition on the operands as stored, with S: computed in float64, for float64 in long double."""
    dtype, rank = descriptor.out.dtype, len(descriptor.out.shape)
    is_long = dtype == "float64"
    arrays = [widened(dtype, inputs[name]) for name in descriptor.roles.read]
    rows = [array.astype(np.longdouble) if is_long else array for array in arrays]
    tiny = float(limits(descriptor.compute).smallest_normal)
    if not descriptor.out.size:
        return Reference(np.zeros(descriptor.out.shape), np.zeros(descriptor.out.shape))
    with np.errstate(all="ignore"):
        lying = [np.moveaxis(row, descriptor.axis, -1) if rank else row.reshape(1) for row in rows]
        value, scale = _DEFINITIONS[descriptor.family](*lying, tiny)
        if rank:
            value, scale = (np.moveaxis(array, -1, descriptor.axis) for array in (value, scale))
        value, scale = (array.astype(np.float64).reshape(descriptor.out.shape) for array in (value, scale))
        return Reference(value, scale * (1 + _LONG_EPS), 0.5) if is_long else Reference(value, scale)


def softmax(x: Array, tiny: float) -> tuple[Array, Array]:
    """Return e / sum e along the last axis, and S.

    e has the rounding of d = x - max, |d| / 2, and exp's error. A kernel may sum blocks relative to their own maxima and
    rescale them, which costs another exp and a product; its quotient may be two roundings. Where e is subnormal, the
    rounding of e, of the rescaled block and of the product are not relative: two smallest subnormals.
    """
    d, e, total = _exponentials(x)
    y = e / total
    scale = y * (_error_of_sum(d, y) + 2 * _EXP + 1.5 + _finite(d) / 2) + 2 * tiny
    return y, np.where(np.isfinite(d), scale, 0.0)


def log_softmax(x: Array, tiny: float) -> tuple[Array, Array]:
    """Return d - log(sum e) along the last axis, and S: the relative error of the sum is absolute in the logarithm, which adds its own."""
    del tiny
    d, e, total = _exponentials(x)
    log = np.log(total)
    z = d - log
    scale = _error_of_sum(d, e / total) + _LOG * np.abs(log) + (_finite(d) + _finite(z)) / 2
    return z, np.where(np.isfinite(d), scale, 0.0)


def _softmax_backward(dy: Array, y: Array, tiny: float) -> _Rows:
    """Return y (dy - sum y dy).

    A product and the sum cost (1 + roundings) / 2 of sum |y dy|, the difference and the last product, in either order,
    one of |dy| and |sum|. Products that become subnormal have an error that is not relative.
    """
    products = y * dy
    total, sizes = _sums(products)
    error = (1 + _roundings(dy)) / 2 * sizes + np.abs(dy) + sizes
    return y * (dy - total), np.abs(y) * (error + dy.shape[-1] * tiny) + tiny


def _log_softmax_backward(dy: Array, y: Array, tiny: float) -> _Rows:
    """Return dy - exp(y) sum dy: the errors of the sum, of exp, of the product and of the difference."""
    total, sizes = _sums(dy)
    e = np.exp(y)
    factor = _roundings(dy) / 2 * sizes + (_EXP + 1) * np.abs(total)
    return dy - e * total, e * factor + np.abs(dy) / 2 + tiny * (1 + np.abs(total))


def _exponentials(x: Array) -> tuple[Array, Array, Array]:
    """Return d = x - max, e^d and the sum of that along the last axis."""
    d = x - x.max(-1, keepdims=True)
    e = np.exp(d)
    return d, e, e.sum(-1, keepdims=True)


def _error_of_sum(d: Array, y: Array) -> Array:
    """Return the relative error of a sum of exponentials, in eps: of its terms, weighted by their shares, and its own."""
    weighted = np.sum(np.where(y > 0, y * _finite(d), 0.0), -1, keepdims=True)
    result: Array = 2 * _EXP + 0.5 + weighted / 2 + _roundings(d) / 2
    return result


def _sums(terms: Array) -> _Rows:
    return terms.sum(-1, keepdims=True), np.abs(terms).sum(-1, keepdims=True)


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), np.abs(values), 0.0)


def _roundings(rows: Array) -> float:
    """Return how many roundings may lie between a term and the sum of a row: chains of 64 terms, joined in pairs."""
    n: int = rows.shape[-1]
    return min(n - 1, _CHAIN - 1 + math.log2(n / _CHAIN)) if n > 1 else 0.0


_DEFINITIONS: Final[Mapping[str, Callable[..., _Rows]]] = {
    "softmax": softmax,
    "log_softmax": log_softmax,
    "softmax_backward": _softmax_backward,
    "log_softmax_backward": _log_softmax_backward,
}
"""From the operands, with rows along the last axis, and the smallest normal number of the compute type."""
