"""The reference of BatchNorm in a wider type, and how far right results may be from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.families.layer_norm.descriptor import EPSILON
from ep_primitives.judging.accuracy import Accuracy, Conditioned
from ep_primitives.judging.reference import LONG_EPS, Reference, limits, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.batch_norm.descriptor import BatchNorm

__all__ = ["BOUND", "reference"]

BOUND: Final[Accuracy] = Conditioned(
    1,
    why="S is the sum of all roundings of the definition, the factors of a channel folded or not, the root as rsqrt: Higham, "
    "Accuracy and Stability of Numerical Algorithms, 2002, section 2.2",
)

_RSQRT: Final = 2.0
"""The error in eps that the row rsqrt promises."""


def reference(descriptor: BatchNorm, inputs: Mapping[str, Any]) -> Reference:
    """Return y of the operands as stored, with S: computed in float64, for float64 in long double.

    The factor of a channel has the roundings of the sum under the root, a quarter of an eps, of the root, and of the
    product with scale; any form of the formula multiplies its error by x - mean. Other roundings are half an eps each.
    """
    x, dtype = descriptor.x, descriptor.x.dtype
    is_long = dtype == "float64"
    wide = np.longdouble if is_long else np.float64
    column = (1,) * descriptor.axis + (-1,) + (1,) * (x.ndim - descriptor.axis - 1)
    given = {name: widened(dtype, value).astype(wide) for name, value in inputs.items()}
    usual = {"scale": np.ones(1, wide), "bias": np.zeros(1, wide)}
    found = {name: each if name == "x" else each.reshape(column) for name, each in (usual | given).items()}
    tiny = float(limits(descriptor.compute).smallest_normal)
    with np.errstate(all="ignore"):
        factor = found["scale"] / np.sqrt(found["variance"] + wide(EPSILON.held(dtype, descriptor.epsilon)))
        d = found["x"] - found["mean"]
        value = d * factor + found["bias"]
        shift = found["mean"] * factor
        sizes = np.abs(found["x"] * factor) + np.abs(shift) + np.abs(found["bias"] - shift) + np.abs(value)
        size = (
            np.abs(d * factor) * (0.25 + _RSQRT + 1)
            + sizes / 2
            + tiny * (1 + np.abs(found["x"]) + np.abs(found["mean"]))
        )
        value, size = (np.asarray(each, np.float64) for each in (value, size))
    return Reference(value, size * (1 + LONG_EPS), 0.5) if is_long else Reference(value, size)
