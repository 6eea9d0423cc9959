"""The reference of Convolution, in a wider type than the result, and how far a right result may be from it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.judging.accuracy import INTEGRAL, Accuracy, Conditioned
from ep_primitives.judging.reference import LONG_EPS, Array, Reference, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.convolution.descriptor import Convolution
    from ep_primitives.sliding.windows import Sliding

__all__ = ["accuracy", "padded", "reference", "windows"]

_WHY: Final = (
    "min(n / 2, 4 sqrt n) for n = k + 3 roundings, k the products of an element of y, as of matmul; S = |x| * |w| + |bias|, * the "
    "convolution: Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1; Higham and Mary, A New Approach to "
    "Probabilistic Rounding Error Analysis, 2019"
)


def accuracy(descriptor: Any) -> Accuracy:
    """Return Conditioned(c) over S = |x| * |w| + |bias|, exact for integers: the bound of a product of such depth.

    A product and k - 1 sums are made for an element, a bias is added, and the product that this lowers to has two roundings
    more, for its alpha and beta: see `matmul_reference.accuracy`.
    """
    if ep.dtype(descriptor.out.dtype).kind == "i":
        return INTEGRAL
    roundings = descriptor.terms + 3
    return Conditioned(round(min(roundings / 2, 4 * math.sqrt(roundings)), 2), why=_WHY)


def reference(descriptor: Convolution, inputs: Mapping[str, Any]) -> Reference:
    """Return the convolution of the operands as stored, and S."""
    dtype = descriptor.out.dtype
    is_long, is_whole = dtype == "float64", ep.dtype(dtype).kind == "i"
    wide = np.longdouble if is_long else np.int64 if is_whole else np.float64
    given = {name: widened(descriptor.present[name].dtype, value).astype(wide) for name, value in inputs.items()}
    with np.errstate(all="ignore"):
        value = _convolved(descriptor, **given)
        if is_whole:
            return Reference(value.astype(np.int32))
        scale = _convolved(descriptor, **{name: np.abs(array) for name, array in given.items()}).astype(np.float64)
        scale = scale * (1 + LONG_EPS) if is_long else scale
        return Reference(value.astype(np.float64), scale, 0.5 if is_long else 0.0)


def _convolved(descriptor: Convolution, x: Array, w: Array, bias: Array | None = None) -> Array:
    groups, shape = descriptor.groups, descriptor.out.shape
    seen = windows(padded(x, descriptor.sliding, shape[2:]), descriptor.sliding, shape[2:])
    columns = seen.reshape(shape[0], groups, descriptor.terms, math.prod(shape[2:]))
    weights = w.reshape(groups, shape[1] // groups, descriptor.terms)
    y: Array = np.asarray(weights @ columns).reshape(shape)
    return y if bias is None else y + bias.reshape(-1, *(1,) * (len(shape) - 2))


def padded(x: Array, sliding: Sliding, counts: tuple[int, ...], value: Any = 0) -> Array:
    """Return x continued by a value as far as so many windows reach, and cut off after them."""
    whole = np.full((*x.shape[:2], *sliding.reach(counts)), value, x.dtype)
    inside = [slice(before, before + extent) for before, extent in zip(sliding.before, x.shape[2:], strict=True)]
    target = whole[(slice(None), slice(None), *inside)]
    target[...] = x[tuple([slice(extent) for extent in target.shape])]
    return whole


def windows(x: Array, sliding: Sliding, counts: tuple[int, ...]) -> Array:
    """Return the windows of a padded x: (N, C, K..., O...)."""
    made = np.empty((*x.shape[:2], *sliding.window, *counts), x.dtype)
    for at in np.ndindex(*sliding.window):
        first = [i * step for i, step in zip(at, sliding.dilations, strict=True)]
        taken = [
            slice(begin, begin + (count - 1) * stride + 1, stride)
            for begin, count, stride in zip(first, counts, sliding.strides, strict=True)
        ]
        made[(slice(None), slice(None), *at)] = x[(slice(None), slice(None), *taken)]
    return made
