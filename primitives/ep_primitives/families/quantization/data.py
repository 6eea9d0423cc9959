"""Data for the operands of the cases of Quantize and Dequantize."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_primitives.families.quantization.reference import spread
from ep_primitives.judging.reference import Array, array_dtype, limits

if TYPE_CHECKING:
    from ep_primitives.families.quantization.descriptor import Quantization

__all__ = ["drawn"]

_TURNED: Final = {"float32": (7, 15, 0.25), "float64": (49, 103, 0.25)}
"""By compute type scales of which some ties, times the rounded reciprocal, are none."""


def drawn(descriptor: Quantization, contents: str, rng: np.random.Generator) -> dict[str, Array]:
    """Return the operands of a case.

    random  : integers of the whole range, and a quarter of numbers beyond it
    ties    : numbers lie half way between integers, whose reciprocal scales turn them, and zero points are odd
    special : a scale each below 0, NaN, 0 and infinite; numbers are NaN, infinities, the largest, the smallest and 0, too
    """
    integers = descriptor.out if descriptor.family == "quantize" else descriptor.x
    low, high = ep.dtype(integers.dtype).range
    into: Any = array_dtype(descriptor.scale.dtype)
    scale = np.asarray(np.exp2(rng.uniform(-4, 1, descriptor.scale.shape))).astype(into)
    if contents == "ties":
        scale = np.resize(_TURNED[descriptor.compute], scale.shape).astype(into)
    if contents == "special":
        scale = np.resize([-0.75, math.nan, 0.0, math.inf, -math.inf, 2.0], scale.shape).astype(into)
    zero = rng.integers(low, high, descriptor.scale.shape, endpoint=True).astype(integers.dtype)
    zero |= contents == "ties"
    if integers is descriptor.x:
        x = rng.integers(low, high, descriptor.x.shape, endpoint=True).astype(integers.dtype)
        if x.size > 1:
            x.reshape(-1)[:2] = low, high
    else:
        with np.errstate(over="ignore"):
            x = _numbers(rng, descriptor, contents, scale, zero).astype(into)
    found = {"x": x, "scale": scale, "zero_point": np.asarray(zero)}
    return {name: np.asarray(array) for name, array in found.items() if name in descriptor.present}


def _numbers(rng: np.random.Generator, descriptor: Quantization, contents: str, scale: Array, zero: Array) -> Array:
    """Return numbers to quantize: near the ones that the integers stand for."""
    shape = descriptor.x.shape
    low, high = ep.dtype(descriptor.out.dtype).range
    reach = (high - low) / 8
    steps = rng.uniform(low - reach, high + reach, shape)
    if contents == "ties":
        steps = np.rint(rng.uniform(-40, 40, shape)) + 0.5
    elif "zero_point" in descriptor.present:
        steps = steps - spread(descriptor, zero.astype(np.float64))
    with np.errstate(all="ignore"):
        x = np.asarray(steps * spread(descriptor, scale.astype(np.float64)))
    if contents == "special":
        info = limits(descriptor.x.dtype)
        ends = [math.nan, math.inf, -math.inf, float(info.max), -float(info.max), float(info.smallest_subnormal), 0.0]
        x.reshape(-1)[:: max(1, x.size // 40)] = np.resize(ends, len(x.reshape(-1)[:: max(1, x.size // 40)]))
    return x
