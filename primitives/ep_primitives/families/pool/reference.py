"""The reference of Pool, in a wider type than the result, and how far a right result may be from it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ep import TensorSpec
from ep_primitives.families.convolution.reference import padded, windows
from ep_primitives.families.pool.rows import POOL_OPS
from ep_primitives.families.reduce import reference as reduce_reference
from ep_primitives.families.reduce.descriptor import Reduce
from ep_primitives.judging.reference import LONG_EPS, Array, Reference, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.pool.descriptor import Pool
    from ep_primitives.judging.accuracy import Accuracy

__all__ = ["accuracy", "reference"]


def accuracy(descriptor: Pool) -> Accuracy:
    """Return the bound of the row for the number of elements of a window."""
    return POOL_OPS[descriptor.op].accuracy_of(descriptor.x.dtype, descriptor.terms)


def reference(descriptor: Pool, inputs: Mapping[str, Any]) -> Reference:
    """Return the op over each window of x as stored, and S."""
    row, x, out = POOL_OPS[descriptor.op], inputs["x"], descriptor.out
    seen = _rows(descriptor, x, np.asarray(row.beside(x.dtype.name)).astype(x.dtype))
    if descriptor.op == "average":
        return _average(descriptor, seen)
    spec = TensorSpec(out.dtype, seen.shape)
    reduced = Reduce(row.reduction, x=spec, out=TensorSpec(out.dtype, out.shape), axis=-1)
    return reduce_reference.reference(reduced, {"x": seen})


def _rows(descriptor: Pool, x: Array, beside: Any) -> Array:
    """Return the elements of each window, with `beside` at places outside x, in one last dimension."""
    counts = descriptor.out.shape[2:]
    seen = windows(padded(x, descriptor.sliding, counts, beside), descriptor.sliding, counts)
    within = range(2, 2 + len(counts))
    moved = np.moveaxis(seen, within, range(seen.ndim - len(counts), seen.ndim))
    return np.ascontiguousarray(moved.reshape(*descriptor.out.shape, descriptor.terms))


def _average(descriptor: Pool, seen: Array) -> Reference:
    is_long = descriptor.x.dtype == "float64"
    rows = widened(descriptor.x.dtype, seen).astype(np.longdouble if is_long else np.float64)
    with np.errstate(all="ignore"):
        number = _numbers(descriptor).astype(rows.dtype)
        value, scale = rows.sum(-1) / number, np.abs(rows).sum(-1) / number
    value, scale = value.astype(np.float64), scale.astype(np.float64)
    return Reference(value, scale * (1 + LONG_EPS), 0.5) if is_long else Reference(value, scale)


def _numbers(descriptor: Pool) -> Array:
    """Return how many elements, and pads if they count, each window of an image touches: a product over the dimensions."""
    sliding, found = descriptor.sliding, []
    for axis, count in enumerate(descriptor.out.shape[2:]):
        begins = np.arange(count) * sliding.strides[axis] - sliding.before[axis]
        places = begins[:, None] + np.arange(sliding.window[axis]) * sliding.dilations[axis]
        first, end = 0, descriptor.x.shape[2 + axis]
        if descriptor.counts_pads:
            first, end = -sliding.before[axis], end + sliding.after[axis]
        found.append(((places >= first) & (places < end)).sum(1))
    return math.prod(np.ix_(*found))  # type: ignore[return-value]  # arrays that broadcast
