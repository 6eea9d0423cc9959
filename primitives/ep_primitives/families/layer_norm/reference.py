"""The reference of LayerNorm in a wider type, and how far right results may be from it.

Every bound is eps S, with S summed up here from single roundings of at most eps / 2 each, to first order, as the definition
makes them one after another: a mean has the bound of Reduce's `mean`, a reciprocal root the bound of `rsqrt`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.families.layer_norm.descriptor import EPSILON
from ep_primitives.families.reduce.rows import summation
from ep_primitives.judging.accuracy import Accuracy, Conditioned
from ep_primitives.judging.reference import LONG_EPS, Array, Reference, limits, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.layer_norm.descriptor import LayerNorm

__all__ = ["BOUND", "normalised", "reference"]

BOUND: Final[Accuracy] = Conditioned(
    1,
    why="S is the sum of all roundings of the definition: means as reduce/mean promises them, of trees that add 64 terms one by one, "
    "the root as rsqrt; an error of the mean is in all differences alike and so in the variance squared: Higham, Accuracy and "
    "Stability of Numerical Algorithms, 2002, sections 1.9 and 4.2",
)

_RSQRT: Final = 2.0
"""The error in eps that the row rsqrt promises."""


def reference(descriptor: LayerNorm, inputs: Mapping[str, Any]) -> dict[str, Reference]:
    """Return y, mean and rstd of the operands as stored, with S: computed in float64, for float64 in long double."""
    dtype = descriptor.x.dtype
    is_long = dtype == "float64"
    wide = np.longdouble if is_long else np.float64
    lead, n = descriptor.x.shape[: descriptor.axis], descriptor.terms
    given = {name: widened(dtype, value).astype(wide) for name, value in inputs.items()}
    rows = given["x"].reshape(-1 if n else int(np.prod(lead, dtype=np.int64)), n)
    scale = given["scale"].reshape(n) if "scale" in given else np.ones(n, wide)
    with np.errstate(all="ignore"):
        found = normalised(dtype, rows, scale, given.get("bias", np.zeros(n, wide)).reshape(n), descriptor.epsilon)
        known = {}
        for name, spec in descriptor.outputs.items():
            value, size = (np.broadcast_to(each, rows.shape if name == "y" else (len(rows), 1)) for each in found[name])
            size = size * (1 + LONG_EPS) if is_long else size
            held = [np.ascontiguousarray(each, np.float64).reshape(spec.shape) for each in (value, size)]
            known[name] = Reference(held[0], held[1], 0.5 if is_long else 0.0)
    return known


def normalised(dtype: str, rows: Array, scale: Array, bias: Array, epsilon: float) -> dict[str, tuple[Array, Array]]:
    """Return the value and S of y, shape (rows, terms), and of mean and rstd, shape (rows, 1).

    scale, bias : broadcast to y

    The mean is off by `apart` eps. So are all differences, alike, and their squares' mean by the square of that, for they add
    up to 0: beside it stand two roundings of each difference, its square's, and the second mean's. Halved by the root they are
    in rstd, and in y with the roundings of its own.
    """
    compute = ep.dtype(dtype).compute
    eps, tiny = float(limits(compute).eps), float(limits(compute).smallest_normal)
    n = rows.shape[1]
    of_mean = summation(n) + 1
    mean = rows.sum(1, keepdims=True) / n
    apart = of_mean * np.abs(rows).sum(1, keepdims=True) / n
    shift = apart + np.abs(mean) / 2
    d = rows - mean
    variance = (d * d).sum(1, keepdims=True) / n
    total = variance + rows.dtype.type(EPSILON.held(dtype, epsilon))
    rstd = 1 / np.sqrt(total)
    off = (of_mean + 2) * variance + eps * shift**2 + eps * shift * np.sqrt(variance) + tiny
    relative = off / total / 2 + 0.25 + _RSQRT
    scaled = d * rstd * scale
    y = scaled + bias
    size = np.abs(scale) * rstd * shift * (1 + eps * relative) + np.abs(scaled) * (relative + 1.5) + np.abs(y) / 2
    return {"y": (y, size + tiny * (1 + np.abs(scale))), "mean": (mean, apart), "rstd": (rstd, rstd * relative)}
