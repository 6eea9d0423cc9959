"""Values by class: a third of an operand's elements are special, tiny or huge, so that a fault under such values alone shows."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

import ep
from ep_primitives.cases import data
from ep_primitives.elementwise.domain import REAL, Domain
from ep_primitives.judging.reference import limits
from ep_primitives.situations.model import Dimension

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["leaning", "values"]

_WORDS: Final = ("usual", "special", "tiny", "huge")
_SHARE: Final = 3
_NEAR: Final = 1 / 64
"""Huge is more than this share of the domain's or the type's largest."""


def values(*operands: str) -> tuple[Dimension, ...]:
    """Return a dimension for each operand: usual values, or a third special, tiny or huge ones."""
    return tuple(Dimension(f"values-{name}", _WORDS) for name in operands)


def leaning(rng: np.random.Generator, word: str, dtype: str, drawn: Array, domain: Domain = REAL) -> Array:
    """Return drawn values a third of which are of a class; as they are if the type or the domain has none of it.

    special : NaN, infinities, zeros and one; of integers the ends and what is next to them
    tiny    : subnormals and the least normal numbers; of integers -1, 0, 1
    huge    : near the largest of the type, or of the domain
    """
    chosen = _chosen(word, dtype, domain)
    if not chosen.size or drawn.size < _SHARE:
        return drawn
    places = rng.permutation(np.arange(drawn.size)).reshape(drawn.shape) % _SHARE == 0
    return np.where(places, rng.choice(chosen, drawn.shape), drawn)


@cache
def _chosen(word: str, dtype: str, domain: Domain) -> Array:
    every = data.designed(dtype, domain)
    kind = ep.dtype(dtype).kind
    if kind == "b" or word == _WORDS[0]:
        return every[:0]
    if kind in "iu":
        low, high = ep.dtype(dtype).range
        sets = {"special": (low, high, high - 1, low + 1, 0), "tiny": (-1, 0, 1)}
        far = every[(every > high // 64) | (every < low // 64)]
        return every[np.isin(every, sets[word])] if word in sets else far
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.abs(every.astype(np.complex128 if kind == "c" else np.float64))
        if word == "special":
            return np.asarray(every[~np.isfinite(sizes) | (sizes == 0) | (sizes == 1)])
        if word == "tiny":
            return np.asarray(every[(sizes <= 64 * float(limits(dtype).smallest_normal)) & (sizes > 0)])
        finite = sizes[np.isfinite(sizes)]
        is_far = np.isfinite(sizes) & (sizes >= _NEAR * (finite.max() if finite.size else 1))
        return np.asarray(every[is_far])
