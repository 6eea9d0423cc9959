"""The reference of Attention in a wider type, and how far right results may be from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.families.attention.descriptor import SCALE, SOFTCAP
from ep_primitives.families.matmul.reference import summed
from ep_primitives.families.softmax.reference import softmax
from ep_primitives.judging.accuracy import Accuracy, Conditioned
from ep_primitives.judging.reference import LONG_EPS, Array, Reference, limits, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.attention.descriptor import Attention

__all__ = ["BOUND", "reference"]

BOUND: Final[Accuracy] = Conditioned(
    1,
    why="S carries the errors of the scores, as Matmul promises them, through the softcap, the mask and the softmax, whose own S it "
    "has, into the second product: Higham, Accuracy and Stability of Numerical Algorithms, 2002, sections 3.1 and 4.2",
)

_TANH: Final = 5.0
"""The error in eps that the row tanh promises."""


def reference(descriptor: Attention, inputs: Mapping[str, Any]) -> Reference:
    """Return the definition on the operands as stored, with S: computed in float64, for float64 in long double."""
    dtype = descriptor.q.dtype
    is_long = dtype == "float64"
    wide = np.longdouble if is_long else np.float64
    q, k, v = (widened(dtype, inputs[name]).astype(wide) for name in ("q", "k", "v"))
    if descriptor.groups > 1:
        k, v = (np.repeat(each, descriptor.groups, axis=-3) for each in (k, v))
    if not descriptor.out.size:
        return Reference(np.zeros(descriptor.out.shape), np.zeros(descriptor.out.shape))
    with np.errstate(all="ignore"):
        scores, apart = _scores(descriptor, q, k, wide)
        scores, apart, left_out = _masked(descriptor, inputs, scores, apart)
        value, size = _weighted(descriptor, scores, apart, v)
        none = left_out.all(-1, keepdims=True)
        value, size = (np.where(none, 0.0, each).astype(np.float64) for each in (value, size))
    return Reference(value, size * (1 + LONG_EPS), 0.5) if is_long else Reference(value, size)


def _scores(descriptor: Attention, q: Array, k: Array, wide: Any) -> tuple[Array, Array]:
    """Return the scores under their cap, and by how many eps they may be off.

    A tanh carries an error by its slope, 1 less its square, and one of second order that is less than the square of the first.
    """
    dtype = descriptor.q.dtype
    scale, cap = wide(SCALE.held(dtype, descriptor.scale)), wide(SOFTCAP.held(dtype, descriptor.softcap))
    turned = np.swapaxes(k, -1, -2)
    scores = scale * (q @ turned)
    # Beside the roundings of a product, the rounding of the scale, which may be divided by the cap.
    apart = np.abs(scale) * (np.abs(q) @ np.abs(turned)) * (summed(q.shape[-1] + 3) + 1)
    if cap:
        eps = float(limits(descriptor.compute).eps)
        off, flat = apart / cap, np.tanh(scores / cap)
        scores = cap * flat
        apart = cap * ((1 - flat**2) * off + eps * off**2 + np.abs(flat) * (_TANH + 1))
    return scores, apart


def _masked(
    descriptor: Attention, inputs: Mapping[str, Any], scores: Array, apart: Array
) -> tuple[Array, Array, Array]:
    """Return scores that a mask and causality changed, their errors, and which are left out."""
    left_out = np.zeros(scores.shape, np.bool_)
    if descriptor.mask is not None:
        mask = widened(descriptor.mask.dtype, inputs["mask"])
        if mask.dtype == np.bool_:
            left_out |= ~mask
        else:
            left_out |= np.isneginf(mask)
            scores = scores + mask
            apart = apart + np.abs(scores) / 2
    if descriptor.is_causal:
        rows, columns = np.indices(scores.shape[-2:])
        left_out |= columns > rows + descriptor.offset
    return np.where(left_out, -np.inf, scores), np.where(left_out, 0, apart), left_out


def _weighted(descriptor: Attention, scores: Array, apart: Array, v: Array) -> tuple[Array, Array]:
    """Return softmax(scores) v, and S: an error of a score is relative in its exponential, and in the sum of a row."""
    eps, tiny = (float(getattr(limits(descriptor.compute), name)) for name in ("eps", "smallest_normal"))
    if not scores.shape[-1]:
        return scores @ v, scores @ v
    p, size = softmax(scores, tiny)
    relative = apart + (np.where(p > 0, p * apart, 0)).sum(-1, keepdims=True)
    size = size + np.where(p > 0, p * relative, 0) * (1 + eps * relative)
    beside = np.where(np.isfinite(v), np.abs(v), 0)
    return p @ v, size @ beside + summed(scores.shape[-1] + 3) * (p @ beside) + tiny
