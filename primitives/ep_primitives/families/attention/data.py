"""Data for the operands of Attention's cases: random ones, and contents that show a fault of one kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.cases.data import TRUE_BYTES
from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.families.attention.descriptor import Attention

    Contents = Callable[[np.random.Generator, Attention], dict[str, Array]]

__all__ = ["CONTENTS"]

_KEPT: Final = 0.7
_APART: Final = 2048.0
"""Between two scores so far apart no exponential is left, in any type."""


def _stored(attention: Attention, arrays: dict[str, Any]) -> dict[str, Array]:
    present: Mapping[str, Any] = attention.present
    return {
        name: np.asarray(each).astype(array_dtype(present[name].dtype), copy=False) for name, each in arrays.items()
    }


def _mask(rng: np.random.Generator, attention: Attention) -> dict[str, Any]:
    """Return a mask: of bools seven tenths true, of floats as many finite, and every eleventh row without a key."""
    mask = attention.mask
    if mask is None:
        return {}
    kept = rng.random(mask.shape) < _KEPT
    if mask.ndim > 1:
        kept[..., 5::11, :] = False
    elif mask.ndim:
        kept[::3] = True
    else:
        kept = np.asarray(True)  # noqa: FBT003 - an element
    if mask.dtype == "bool":
        return {"mask": np.where(kept, rng.choice(TRUE_BYTES, mask.shape), 0).astype(np.uint8).view(np.bool_)}
    return {"mask": np.where(kept, rng.uniform(-3, 3, mask.shape), -math.inf)}


def _random(rng: np.random.Generator, attention: Attention, size: float = 1.0) -> dict[str, Array]:
    """Scores of a few units, values that differ."""
    arrays = {name: rng.standard_normal(getattr(attention, name).shape) for name in ("q", "k")}
    arrays["q"] = size * arrays["q"]
    v = rng.uniform(-2, 2, attention.v.shape)
    return _stored(attention, {**arrays, "v": v, **_mask(rng, attention)})


def _large(rng: np.random.Generator, attention: Attention) -> dict[str, Array]:
    """Scores of hundreds: their exponentials overflow."""
    return _random(rng, attention, 200.0)


def _same_sign(rng: np.random.Generator, attention: Attention) -> dict[str, Array]:
    """Scores that hardly differ and values near 1: every rounding of a running sum errs to one side."""
    found = _random(rng, attention, 2.0**-6)
    v = 1 + rng.uniform(0, 0.5, attention.v.shape)
    return found | _stored(attention, {"v": v})


def _chosen(rng: np.random.Generator, attention: Attention) -> dict[str, Array]:
    """Each query is far ahead with one key, so that out is that key's row of v: with a scale of 8 every bit is known.

    There are at most as many keys as columns; a query of causal attention chooses among those that it meets.
    """
    queries, keys = attention.scores[-2:]
    depth = attention.q.shape[-1]
    last = np.full(queries, keys - 1)
    if attention.is_causal:
        last = np.clip(np.arange(queries) + attention.offset, 0, keys - 1)
    chosen = rng.integers(0, last + 1, attention.q.shape[:-1])
    q = _APART * (np.arange(depth) == chosen[..., None])
    k = np.broadcast_to(np.eye(keys, depth), attention.k.shape).copy()
    v = rng.uniform(-2, 2, attention.v.shape)
    return _stored(attention, {"q": q, "k": k, "v": v})


def _not_finite(rng: np.random.Generator, attention: Attention) -> dict[str, Array]:
    """As `chosen`, with NaN and infinities in some queries and columns of v."""
    found = _chosen(rng, attention)
    found["q"][..., 3, 1] = math.nan
    found["q"][..., 5, 2] = math.inf
    found["v"][..., 4, 0] = math.nan
    found["v"][..., 2, 3] = -math.inf
    return found


def _nan_keys(rng: np.random.Generator, attention: Attention) -> dict[str, Array]:
    """As `chosen`, with a NaN in the last key of the first head, which spoils all rows that meet it."""
    found = _chosen(rng, attention)
    found["k"].reshape(-1, *attention.k.shape[-2:])[0, -1, 0] = math.nan
    return found


CONTENTS: Final[Mapping[str, Contents]] = {
    "random": _random,
    "large": _large,
    "same-sign": _same_sign,
    "chosen": _chosen,
    "not-finite": _not_finite,
    "nan-keys": _nan_keys,
}
"""By name, from a generator and a descriptor to its operands."""
