"""Data for the operands of BatchNorm's cases, each made to show a fault of one kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.families.layer_norm.data import AFFINES
from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.families.batch_norm.descriptor import BatchNorm

    Contents = Callable[[np.random.Generator, BatchNorm], dict[str, Any]]

__all__ = ["CONTENTS"]


def _stored(norm: BatchNorm, affine: str, rng: np.random.Generator, **arrays: Any) -> dict[str, Array]:
    channels = norm.x.shape[norm.axis]
    columns = dict(zip(("scale", "bias"), AFFINES[affine](rng, norm.x.dtype, channels), strict=True))
    return {name: np.asarray({**columns, **arrays}[name]).astype(array_dtype(norm.x.dtype)) for name in _read(norm)}


def _read(norm: BatchNorm) -> list[str]:
    return [name for name in norm.roles.read if name in norm.present]


def _column(norm: BatchNorm, values: Any) -> Array:
    return np.asarray(values).reshape((-1,) + (1,) * (norm.x.ndim - norm.axis - 1))


def _random(rng: np.random.Generator, norm: BatchNorm, middle: float = 3.0) -> dict[str, Any]:
    """Channels of another size and another middle each."""
    channels = norm.x.shape[norm.axis]
    size = np.exp2(rng.uniform(-3, 3, channels))
    mean = size * rng.uniform(-middle, middle, channels)
    x = _column(norm, size) * rng.standard_normal(norm.x.shape) + _column(norm, mean)
    return _stored(norm, "usual", rng, x=x, mean=mean, variance=np.square(size))


def _far(rng: np.random.Generator, norm: BatchNorm) -> dict[str, Any]:
    """Channels far from 0: x less the mean is small."""
    return _random(rng, norm, 200.0)


def _small(rng: np.random.Generator, norm: BatchNorm) -> dict[str, Any]:
    """Variances on both sides of the usual epsilon, one of them 0."""
    channels = norm.x.shape[norm.axis]
    size = np.exp2(np.linspace(-11, 1, channels))
    size[:1] = 0
    x = rng.standard_normal(norm.x.shape) * _column(norm, np.maximum(size, 2.0**-11))
    return _stored(norm, "usual", rng, x=x, mean=np.zeros(channels), variance=np.square(size))


def _halves(rng: np.random.Generator, norm: BatchNorm) -> dict[str, Any]:
    """Integers, and variances of 1 and 13: with an epsilon of 3 the reciprocal roots are 1/2 and 1/4. No y is 0."""
    channels = norm.x.shape[norm.axis]
    x, mean = (rng.integers(-6, 7, shape) for shape in (norm.x.shape, channels))
    found = _stored(norm, "integral", rng, x=x, mean=mean, variance=rng.choice([1.0, 13.0], channels))
    found["bias"] += array_dtype(norm.x.dtype).type(0.125)
    return found


def _special(rng: np.random.Generator, norm: BatchNorm) -> dict[str, Any]:
    """As `halves`, with NaN and infinities in x, a NaN in one channel's number each, and variances below 0."""
    found = _halves(rng, norm)
    flat = found["x"].reshape(-1)
    places = rng.permutation(flat.size)[: flat.size // 4]
    flat[places] = np.resize([math.nan, math.inf, -math.inf], len(places))
    channels = rng.permutation(norm.x.shape[norm.axis])
    for name, channel in zip(_read(norm)[1:], channels, strict=False):
        found[name][channel] = math.nan
    found["variance"][channels[-1]] = -7.0
    return found


def _not_finite(rng: np.random.Generator, norm: BatchNorm) -> dict[str, Any]:
    """Random ones, of which some scales are 0: an infinity in x there is NaN."""
    found = _random(rng, norm)
    found["scale"][::3] = 0
    found["x"].reshape(-1)[::7] = math.inf
    return found


CONTENTS: Final[Mapping[str, Contents]] = {
    "random": _random,
    "far": _far,
    "small": _small,
    "halves": _halves,
    "special": _special,
    "not-finite": _not_finite,
}
"""By name, from a generator and a descriptor to its operands."""
