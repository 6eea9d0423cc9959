"""Numbers half-way between two neighbours of a narrower type, and next to that: rounding twice goes wrong there."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

import ep
from ep_primitives.cases.data import exhaustive
from ep_primitives.judging.reference import Array, array_dtype, limits, widened

__all__ = ["ties"]

_PARTS: Final = {"complex64": "float32", "complex128": "float64"}
_COUNT: Final = 600
_NEAR: Final = 64
_STEP: Final = 31


@cache
def ties(source: str, target: str) -> Array:
    """Return the ties of `target` that `source` holds, each with its neighbours in `source`; empty if it holds none."""
    narrow, wide = _PARTS.get(target, target), _PARTS.get(source, source)
    into = array_dtype(source)
    if ep.dtype(narrow).kind != "f" or ep.dtype(wide).kind == "b" or (narrow, wide) == ("float64", "float64"):
        return np.empty(0, into)
    if ep.dtype(wide).kind != "f":
        values = _integer_ties(wide, ep.dtype(narrow).fraction)
    else:
        values = _floating_ties(wide, narrow)
    if source == wide:
        return values
    paired: Array = np.empty(values.size, into)
    paired.real, paired.imag = values, values[::-1]
    return paired


def _integer_ties(source: str, fraction: int) -> Array:
    low, high = ep.dtype(source).range
    rng = np.random.default_rng(8)
    room = high.bit_length() - fraction - 1
    if room < 1:
        return np.empty(0, array_dtype(source))
    heads = rng.integers(2**fraction, 2 ** (fraction + 1), _COUNT).tolist()
    shifts = rng.integers(1, room, _COUNT, endpoint=True).tolist()
    middles = [(head << shift) + (1 << shift - 1) for head, shift in zip(heads, shifts, strict=True)]
    values = [sign * (middle + side) for middle in middles for side in (-1, 0, 1) for sign in (1, -1)]
    return np.array([value for value in values if low <= value <= high], array_dtype(source))


def _floating_ties(source: str, target: str) -> Array:
    ladder, steps = _ladder(target)
    into = array_dtype(source)
    with np.errstate(over="ignore", under="ignore"):
        middles = ladder + steps / 2
        held = middles.astype(into)
        held = held[(held.astype(np.float64) == middles) & np.isfinite(held.astype(np.float64))]
        ends = into.type(np.inf)
        values = np.concatenate([np.nextafter(held, -ends), held, np.nextafter(held, ends)])
    return np.concatenate([values, -values])


def _ladder(target: str) -> tuple[Array, Array]:
    """Return values of a type from 0 to the largest, and each one's distance to the next, as if the type went on."""
    info = limits(target)
    if ep.dtype(target).itemsize <= 2:  # noqa: PLR2004 - all its values are few
        every = widened(target, exhaustive(target))
        every = np.unique(every[np.isfinite(every) & (every >= 0)])
        steps = np.append(np.diff(every), every[-1] - every[-2])
        chosen = np.arange(every.size)
        chosen = chosen[(chosen % _STEP == 0) | (chosen < _NEAR) | (chosen > every.size - _NEAR)]
        return every[chosen], steps[chosen]
    rng = np.random.default_rng(9)
    least, fraction = float(info.smallest_subnormal), ep.dtype(target).fraction
    exponents = rng.integers(int(info.minexp), int(info.maxexp), _COUNT).astype(np.float64)
    exponents[:2] = info.minexp, info.maxexp - 1
    steps = np.exp2(exponents - fraction)
    values = steps * rng.integers(2**fraction, 2 ** (fraction + 1), _COUNT)
    values[1] = float(info.max)
    small = least * rng.integers(0, 2**fraction, _NEAR)
    return np.append(values, small), np.append(steps, np.full(_NEAR, least))
