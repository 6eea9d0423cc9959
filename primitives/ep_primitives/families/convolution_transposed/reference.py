"""The reference of ConvolutionTransposed in a wider type: each element of x times weights, added up in y."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ep_primitives.judging.reference import LONG_EPS, Array, Reference, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.convolution_transposed.descriptor import ConvolutionTransposed

__all__ = ["reference"]


def reference(descriptor: ConvolutionTransposed, inputs: Mapping[str, Any]) -> Reference:
    """Return y of the operands as stored, and S, the sum of the sizes of all terms."""
    dtype = descriptor.x.dtype
    is_long = dtype == "float64"
    given = {
        name: widened(dtype, value).astype(np.longdouble if is_long else np.float64) for name, value in inputs.items()
    }
    with np.errstate(all="ignore"):
        value = _given(descriptor, **given).astype(np.float64)
        scale = _given(descriptor, **{name: np.abs(array) for name, array in given.items()}).astype(np.float64)
        return Reference(value, scale * (1 + LONG_EPS), 0.5) if is_long else Reference(value, scale)


def _given(descriptor: ConvolutionTransposed, x: Array, w: Array, bias: Array | None = None) -> Array:
    sliding, groups, (images, made, *extents) = descriptor.sliding, descriptor.groups, descriptor.out.shape
    reach = [
        max(pair)
        for pair in zip(sliding.reach(x.shape[2:]), map(sum, zip(extents, sliding.before, strict=True)), strict=True)
    ]
    whole = np.zeros((images, made, *reach), x.dtype)
    each = x.shape[1] // groups
    parts = x.reshape(images, groups, each, math.prod(x.shape[2:]))
    for at in np.ndindex(*sliding.window):
        weights = w[(slice(None), slice(None), *at)].reshape(groups, each, w.shape[1])
        product = (np.swapaxes(weights, 1, 2) @ parts).reshape(images, made, *x.shape[2:])
        places = [
            slice(i * step, i * step + (extent - 1) * stride + 1, stride)
            for i, step, stride, extent in zip(at, sliding.dilations, sliding.strides, x.shape[2:], strict=True)
        ]
        whole[(slice(None), slice(None), *places)] += product
    kept = [slice(first, first + extent) for first, extent in zip(sliding.before, extents, strict=True)]
    y: Array = whole[(slice(None), slice(None), *kept)]
    return y if bias is None else y + bias.reshape(-1, *(1,) * len(extents))
