"""Extents by residue and by magnitude: what decides which path of a kernel, and which tail of it, a size takes."""

from __future__ import annotations

import random as library
from typing import TYPE_CHECKING, Final

from ep_primitives.situations.model import Dimension

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

__all__ = ["DEEP", "INNER", "SIZE", "TAIL", "by_rest", "drawer", "extent", "long", "small"]

TAIL: Final = Dimension("tail", tuple(map(str, (1, 0, *range(2, 16)))), is_dangerous=True)
"""The number of elements modulo 16: what no vector of up to 16 lanes takes."""

SIZE: Final = Dimension("size", ("hundreds", "few", "thousands", "large", "past"), late=("past",))
"""The number of elements less its tail. Large: beyond 16 bits. Past: beyond 65,535 blocks of 32."""

INNER: Final = Dimension("inner", ("4k1", "4k", "4k2", "4k3", "few", "long"))
"""The innermost extent, by its rest modulo a vector of four; few are 2 or 3, long is beyond a block of 1,024."""

DEEP: Final = (2, 1, 3, 1, 2, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1)
"""The outer extents of rank 16, which merge as little as strides let them."""

_BASES: Final[Mapping[str, Callable[[Random], int]]] = {
    "few": lambda _: 0,
    "hundreds": lambda random: 16 * random.randint(10, 40),
    "thousands": lambda random: 4096 + 16 * random.randint(-2, 8),
    "large": lambda random: 65536 + 16 * random.randint(0, 40),
    "past": lambda random: 65535 * 32 + 16 * random.randint(1, 40),
}


def drawer(text: str) -> Random:
    """Return the generator of what a situation leaves open, decided by a text with the seed in it."""
    return library.Random(text)  # noqa: S311 - nothing is secret


def long(random: Random, size: str, tail: str, step: int = 1) -> int:
    """Return m such that step * m has this tail, and at least this size.

    step : odd
    """
    rest = int(tail) * pow(step, -1, 16) % 16
    return -(-_BASES[size](random) // (16 * step)) * 16 + rest or 16


def extent(random: Random, inner: str) -> int:
    """Return an innermost extent."""
    if inner == "few":
        return random.choice((2, 3))
    if inner == "long":
        return 4 * random.randint(258, 330) + random.randrange(4)
    return by_rest(random, int(inner[2:] or 0))


def by_rest(random: Random, rest: int, most: int = 16) -> int:
    """Return an extent by the rest of its division by four: every other time one that is, or is beside, a multiple of 16.

    most : of the fours in it
    """
    whole = [fours for fours in (4, 8, 16) if fours <= most]
    if whole and random.getrandbits(1):
        return 4 * (random.choice(whole) - (rest == 3)) + rest  # noqa: PLR2004 - the rest of one short of a multiple
    return 4 * random.randint(min(most, 4), most) + rest


def small(random: Random, count: int) -> tuple[int, ...]:
    """Return so many outer extents: together some dozen, and enough that what is repeated along the last axis tells."""
    least, most = {1: (11, 19), 2: (5, 7), 3: (3, 4)}.get(count, (2, 3))
    return tuple(random.randint(least, most) for _ in range(count))
