"""The references of Quantize and Dequantize, and their accuracies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.judging.accuracy import INTEGRAL, NARROW, ROUNDED_ONCE, Accuracy, Conditioned
from ep_primitives.judging.reference import Array, Reference, array_dtype, widened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.families.quantization.descriptor import Quantization

__all__ = ["accuracy", "dequantized", "quantized", "spread"]

_WIDE_INTEGERS: Final[Accuracy] = Conditioned(
    1,
    why="an int32 and its zero point are rounded to the compute type, and so is their difference: S = (|x| + |zero_point|) |scale|",
)


def quantized(descriptor: Quantization, inputs: Mapping[str, Any]) -> Reference:
    """Return saturate(round(x / scale) + zero_point), the quotient rounded to the compute type as IEEE 754 does."""
    wide: Any = array_dtype(descriptor.compute)
    x, scale = inputs["x"].astype(wide), spread(descriptor, inputs["scale"].astype(wide))
    with np.errstate(all="ignore"):
        steps = np.rint(x / scale).astype(np.float64)
        steps = steps + spread(descriptor, inputs["zero_point"]) if "zero_point" in inputs else steps
        low, high = ep.dtype(descriptor.out.dtype).range
        found = np.where(np.isnan(steps), 0, np.clip(steps, low, high))
    return Reference(np.asarray(found.astype(descriptor.out.dtype)))


def dequantized(descriptor: Quantization, inputs: Mapping[str, Any]) -> Reference:
    """Return (x - zero_point) scale, which float64 holds exactly of narrower types, and rounds once of its own."""
    x = inputs["x"].astype(np.float64)
    zero = spread(descriptor, inputs["zero_point"].astype(np.float64)) if "zero_point" in inputs else np.float64(0)
    scale = spread(descriptor, widened(descriptor.scale.dtype, inputs["scale"]))
    with np.errstate(all="ignore"):
        value = np.asarray((x - zero) * scale)
        return Reference(value, np.asarray((np.abs(x) + np.abs(zero)) * np.abs(scale)))


def spread(descriptor: Quantization, array: Array) -> Array:
    """Return a scale or a zero point with each block repeated, so that it broadcasts to x."""
    axis, block = descriptor.axis, descriptor.block
    if axis is None or block is None:
        return array
    return np.repeat(array, block, axis)[(slice(None),) * axis + (slice(descriptor.x.shape[axis]),)]


def accuracy(descriptor: Quantization) -> Accuracy:
    """Return the promise: integers are exact, and so is a product that is rounded once."""
    if descriptor.family == "quantize":
        return INTEGRAL
    if descriptor.x.dtype == "int32":
        return _WIDE_INTEGERS
    return ROUNDED_ONCE if descriptor.compute == descriptor.out.dtype else NARROW
