"""The reference of CrossEntropy in a wider type, and how far right results may be from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.families.reduce.rows import summation
from ep_primitives.families.softmax.reference import log_softmax
from ep_primitives.judging.accuracy import Accuracy, Conditioned
from ep_primitives.judging.reference import LONG_EPS, Array, Reference, limits, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.cross_entropy.descriptor import CrossEntropy

__all__ = ["BOUND", "reference"]

BOUND: Final[Accuracy] = Conditioned(
    1,
    why="S is that of LogSoftmax at the labels, the rounding of a product, and the errors of sums in trees that add 64 terms one by "
    "one: Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 4.2",
)


def reference(descriptor: CrossEntropy, inputs: Mapping[str, Any]) -> Reference:
    """Return the definition on the operands as stored, with S: computed in float64, for float64 in long double."""
    dtype, labels = descriptor.x.dtype, np.asarray(inputs["labels"])
    is_long = dtype == "float64"
    wide = np.longdouble if is_long else np.float64
    counts = (labels >= 0) & (labels < descriptor.x.shape[1])
    if descriptor.ignore_index is not None:
        counts &= labels != descriptor.ignore_index
    with np.errstate(all="ignore"):
        picked, apart = _picked(descriptor, widened(dtype, inputs["x"]).astype(wide), np.where(counts, labels, 0))
        weight = np.ones(labels.shape, wide)
        if "weights" in inputs and labels.size and descriptor.x.shape[1]:
            weight = widened(dtype, inputs["weights"]).astype(wide)[np.where(counts, labels, 0)]
        weight = np.where(counts, weight, 0)
        loss = np.where(counts, -picked * weight, 0)
        size = np.where(counts, apart * np.abs(weight) + np.abs(loss) / 2, 0)
        value, size = _reduced(descriptor, loss, size, weight)
        value, size = (np.asarray(each, np.float64) for each in (value, size))
    return Reference(value, size * (1 + LONG_EPS), 0.5) if is_long else Reference(value, size)


def _picked(descriptor: CrossEntropy, x: Array, labels: Array) -> tuple[Array, Array]:
    """Return the logarithm at each label, and its S."""
    rows = np.moveaxis(x, 1, -1)
    if not rows.size:
        return np.zeros(labels.shape, x.dtype), np.zeros(labels.shape, x.dtype)
    apart = np.zeros_like(rows)
    if not descriptor.is_log:
        rows, apart = log_softmax(rows, float(limits(descriptor.compute).smallest_normal))
    taken = (np.take_along_axis(each, labels[..., None], -1)[..., 0] for each in (rows, apart))
    found, error = taken
    return found, error


def _reduced(descriptor: CrossEntropy, loss: Array, size: Array, weight: Array) -> tuple[Array, Array]:
    """Return the reduction of losses and its S: a quotient has the relative errors of both sums, and its own."""
    if descriptor.reduction == "none":
        return loss, size
    height = summation(loss.size)
    total, apart = loss.sum(), size.sum() + height * np.abs(loss).sum()
    if descriptor.reduction == "sum":
        return total, apart
    count = weight.sum()
    of_count = height * np.abs(weight).sum() / np.abs(count)
    value = total / count
    return value, apart / np.abs(count) + np.abs(value) * (of_count + 0.5)
