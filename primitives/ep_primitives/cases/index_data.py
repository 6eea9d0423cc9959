"""Indices of cases: values in a range, and values out of it that a faulty kernel would take for values in range."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep import TensorSpec
    from ep_primitives.cases.case import Fill
    from ep_primitives.judging.reference import Array

__all__ = ["CONTENTS", "fill_of"]

_OUTSIDE: Final = 0.25
"""The share of a mixture that is out of range."""


def _random(rng: np.random.Generator, spec: TensorSpec, low: int, extent: int) -> Array:
    """Return indices in range, the first and the last among them where there is room."""
    drawn = _drawn(rng, spec, low, extent)
    drawn[: min(drawn.size, 2)] = [low, low + extent - 1][: drawn.size]
    return rng.permutation(drawn).reshape(spec.shape)


def _mixed(rng: np.random.Generator, spec: TensorSpec, low: int, extent: int) -> Array:
    """Return indices of which three quarters are in range and one is not."""
    count = int(_OUTSIDE * spec.size) if extent else spec.size
    outside = rng.choice(_beside(spec, low, extent), count)
    inside = _drawn(rng, spec, low, extent)[: spec.size - count]
    return rng.permutation(np.concatenate([inside, outside])).reshape(spec.shape)


def _edges(rng: np.random.Generator, spec: TensorSpec, low: int, extent: int, *, is_near: bool = False) -> Array:
    """Return the first, the last and every index that a fault would take for one in range; of near ones the neighbours."""
    beside = np.array([low - 1, low + extent], spec.dtype) if is_near else _beside(spec, low, extent)
    inside = np.array([low, low + extent - 1], spec.dtype)
    chosen = np.concatenate([beside, np.resize(inside, max(spec.size - beside.size, 2))])
    return rng.permutation(chosen)[: spec.size].reshape(spec.shape)


def _outside(rng: np.random.Generator, spec: TensorSpec, low: int, extent: int) -> Array:
    return rng.choice(_beside(spec, low, extent), spec.size).reshape(spec.shape)


def _sorted(rng: np.random.Generator, spec: TensorSpec, low: int, extent: int) -> Array:
    return np.sort(_drawn(rng, spec, low, extent)).reshape(spec.shape)


def _reversed(_: np.random.Generator, spec: TensorSpec, low: int, extent: int) -> Array:
    return (low + np.arange(spec.size)[::-1] % extent).astype(spec.dtype).reshape(spec.shape)


def _repeated(rng: np.random.Generator, spec: TensorSpec, low: int, extent: int) -> Array:
    """Return two different indices, again and again."""
    two = rng.choice(extent, 2, replace=False) + low
    return rng.permutation(np.resize(two, spec.size)).astype(spec.dtype).reshape(spec.shape)


def _ends(rng: np.random.Generator, spec: TensorSpec, low: int, extent: int) -> Array:
    """Return indices near both ends of a long range."""
    steps = rng.integers(0, min(extent, 2 * spec.size), spec.size)
    near = np.where(rng.random(spec.size) < 0.5, low + steps, low + extent - 1 - steps)  # noqa: PLR2004 - half of them
    return near.astype(spec.dtype).reshape(spec.shape)


def _drawn(rng: np.random.Generator, spec: TensorSpec, low: int, extent: int) -> Array:
    return rng.integers(low, low + max(extent, 1), spec.size).astype(spec.dtype)


def _beside(spec: TensorSpec, low: int, extent: int) -> Array:
    """Return values out of range: neighbours, ends of the type, and values that wrap or narrow into the range."""
    info: Any = np.iinfo(spec.dtype)
    some = low + extent // 2
    values = {low - 1, low - extent, low + extent, low + 2 * extent, info.min, info.max, info.min + some, -1, extent}
    for bits in (8, 16, 31, 32, 33, 48, 62):
        values |= {some + 2**bits, some - 2**bits}
    inside = range(low, low + extent)
    held = [value for value in values if info.min <= value <= info.max and value not in inside]
    return np.array(sorted(held), spec.dtype)


def fill_of(contents: str) -> Fill:
    """Return the kind of data of a case with these indices."""
    return "random" if contents in {"mixed", "random"} else "designed"


CONTENTS: Final[Mapping[str, Callable[[np.random.Generator, TensorSpec, int, int], Array]]] = {
    "mixed": _mixed,
    "random": _random,
    "edges": _edges,
    "edges-near": partial(_edges, is_near=True),
    "outside": _outside,
    "sorted": _sorted,
    "reversed": _reversed,
    "repeated": _repeated,
    "ends": _ends,
}
"""By name the functions that draw indices of a spec in the range [low, low + extent)."""
