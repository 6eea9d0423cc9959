"""The reference of RmsLayerNorm in a wider type, and how far right results may be from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.families.layer_norm.descriptor import EPSILON
from ep_primitives.families.reduce.rows import summation
from ep_primitives.judging.accuracy import Accuracy, Conditioned
from ep_primitives.judging.reference import LONG_EPS, Array, Reference, limits, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.rms_layer_norm.descriptor import RmsLayerNorm

__all__ = ["BOUND", "reference"]

BOUND: Final[Accuracy] = Conditioned(
    1,
    why="S is the sum of all roundings of the definition: a mean of squares of trees that add 64 terms one by one, the root as rsqrt: "
    "Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.2",
)

_RSQRT: Final = 2.0
"""The error in eps that the row rsqrt promises."""


def reference(descriptor: RmsLayerNorm, inputs: Mapping[str, Any]) -> Reference:
    """Return y of the operands as stored, with S: computed in float64, for float64 in long double.

    A mean square has the error of a mean of positive terms and the rounding of each square; the root halves it.
    """
    x, dtype, n = descriptor.x, descriptor.x.dtype, descriptor.terms
    if not x.size:
        return Reference(np.zeros(x.shape), np.zeros(x.shape))
    is_long = dtype == "float64"
    wide = np.longdouble if is_long else np.float64
    rows: Array = widened(dtype, inputs["x"]).astype(wide).reshape(-1, n)
    scale: Array = widened(dtype, inputs["scale"]).astype(wide).reshape(n) if "scale" in inputs else np.ones(n, wide)
    tiny = float(limits(descriptor.compute).smallest_normal)
    with np.errstate(all="ignore"):
        square = (rows * rows).sum(1, keepdims=True) / n
        total = square + wide(EPSILON.held(dtype, descriptor.epsilon))
        relative = ((summation(n) + 1.5) * square + tiny) / total / 2 + 0.25 + _RSQRT
        value = rows / np.sqrt(total) * scale
        size = np.abs(value) * np.where(np.isfinite(relative), relative + 1.5, 0) + tiny * (1 + np.abs(scale))
        value, size = (each.astype(np.float64).reshape(x.shape) for each in (value, size))
    return Reference(value, size * (1 + LONG_EPS), 0.5) if is_long else Reference(value, size)
