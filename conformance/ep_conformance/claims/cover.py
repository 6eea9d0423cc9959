"""The fewest patterns that match some cells and no others of the suite, each as a person would write it."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["cover"]

_FIRST: Final = re.compile(r"\w+")
"""The first type of the inputs."""

_SHORT_FLOAT: Final = re.compile(r"float[13]")
"""Floats of 16 and 32 bits, which devices without float64 have."""

Parts = tuple[str, ...]


def cover(wanted: Collection[str], known: Collection[str]) -> list[str]:
    """Return patterns that match each wanted cell and no other known one, as few as a greedy choice finds.

    wanted : among the known, all of one family

    Any part of a pattern may be open. The types may also be open after the first or before the last: `float64*`,
    `*->bool`; or be those of floats of 16 and 32 bits: `*float[13]*`. Of patterns that cover equally many cells the plainest is taken, and of these the most open.
    """
    open_to: dict[Parts, set[str]] = defaultdict(set)
    spoiled: set[Parts] = set()
    family = _Family(known)
    for name in known:
        for pattern in family.patterns(name):
            if name in wanted:
                open_to[pattern].add(name)
            else:
                spoiled.add(pattern)
    choices = {pattern: names for pattern, names in open_to.items() if pattern not in spoiled}
    return ["/".join(pattern) for pattern in _pruned(_chosen(choices, set(wanted)), choices)]


class _Family:
    """How many values each part of a family's cells has: a part with one value is spelled out."""

    def __init__(self, known: Collection[str]) -> None:
        columns = zip(*(name.split("/") for name in known), strict=True)
        self._counts = [len(set(column)) for column in columns]

    def patterns(self, name: str) -> Iterator[Parts]:
        """Yield every pattern that may be written for a cell, the preferred one first."""
        family, op, dtypes, layout = name.split("/")
        _, ops, types, _ = self._counts
        yield from itertools.product(
            [family],
            ["*", op] if ops > 1 else [op],
            _types(dtypes) if types > 1 else [dtypes],
            ["*", layout],
        )


def _types(dtypes: str) -> Iterator[str]:
    """Yield the texts that may stand for the types of a cell."""
    yield from ("*", dtypes)
    first = _FIRST.match(dtypes)
    if first:
        yield f"{first[0]}*"
    if _SHORT_FLOAT.search(dtypes):
        yield "*float[13]*"
    inputs, arrow, out = dtypes.partition("->")
    if arrow:
        yield f"{inputs}->*"
        yield f"*->{out}"


def _chosen(choices: dict[Parts, set[str]], left: set[str]) -> list[Parts]:
    """Return patterns that cover the remaining cells, each time the pattern that covers most of them."""
    found: list[Parts] = []
    ranked = sorted(choices, key=lambda pattern: -len(choices[pattern]))  # among equals the preferred, which came first
    while left:
        best, most = ranked[0], 0
        for pattern in ranked:
            if len(choices[pattern]) <= most:
                break
            count = len(choices[pattern] & left)
            if count > most:
                best, most = pattern, count
        found.append(best)
        left = left - choices[best]
    return found


def _pruned(found: list[Parts], choices: dict[Parts, set[str]]) -> list[Parts]:
    """Return the patterns less those whose cells are all covered by others as well."""
    counts = Counter(name for pattern in found for name in choices[pattern])
    kept = []
    for pattern in reversed(found):
        if all(counts[name] > 1 for name in choices[pattern]):
            counts.subtract(choices[pattern])
        else:
            kept.append(pattern)
    return kept[::-1]
