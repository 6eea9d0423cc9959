"""Covering arrays, greedily: each new row begins with a tuple that is not covered yet and takes in as many others as it can."""

from __future__ import annotations

from itertools import combinations, product
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_tools.covering.solver import Solver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ep_primitives.situations.model import Model, Situation

__all__ = ["extended"]

_CANDIDATES: Final = 12
"""Rows that are tried for each that is taken."""

Tuple = tuple[tuple[int, int], ...]
"""Places of dimensions with places of their values."""


def extended(model: Model, tiers: Mapping[str, Sequence[Situation]], seed: int = 0) -> dict[str, list[dict[str, str]]]:
    """Return the situations that a model needs beside those there are, by tier.

    Quick are the pairs of values that are not late, late the pairs of all values, triples those of dangerous dimensions.
    """
    random = Random(seed)  # noqa: S311 - nothing is secret
    dimensions = model.dimensions
    quick = [[place for place, value in enumerate(each.values) if value not in each.late] for each in dimensions]
    every = [[*range(len(each.values))] for each in dimensions]
    everywhere = [*range(len(dimensions))]
    dangerous = [place for place, each in enumerate(dimensions) if each.is_dangerous]
    known: list[list[int]] = []
    found = {}
    for tier, allowed, places, strength in (
        ("quick", quick, everywhere, 2),
        ("late", every, everywhere, 2),
        ("triples", every, dangerous, 3),
    ):
        known += [[each.values.index(row[each.name]) for each in dimensions] for row in tiers.get(tier, ())]
        goal = _Goal(allowed, places, min(strength, len(places)))
        new = [*_Covering(model, goal, known, random).rows()] if len(places) >= strength or tier == "quick" else []
        known += new
        found[tier] = [{d.name: d.values[value] for d, value in zip(dimensions, row, strict=True)} for row in new]
    return found


class _Goal(NamedTuple):
    """What is to be covered.

    allowed  : for each dimension the places of the values that a row may have
    places   : of the dimensions whose tuples count
    strength : their size
    """

    allowed: Sequence[Sequence[int]]
    places: Sequence[int]
    strength: int


class _Covering:
    """What is not covered yet of the pairs of a model's values."""

    def __init__(self, model: Model, goal: _Goal, given: Sequence[Sequence[int]], random: Random) -> None:
        self._goal, self._random = goal, random
        self._solver = Solver(model, goal.allowed)
        self._size = len(model.dimensions)
        self._missing = dict.fromkeys(self._tuples())
        for row in given:
            self._take(row)
        for each in [*self._missing]:
            if not self._solver.is_feasible(self._row(each)):
                del self._missing[each]

    def rows(self) -> Iterator[list[int]]:
        """Yield rows until nothing is missing."""
        while self._missing:
            seed = next(iter(self._missing))
            row = max((self._candidate(seed) for _ in range(_CANDIDATES)), key=self._gain)
            self._take(row)
            yield row

    def _tuples(self) -> Iterator[Tuple]:
        for places in combinations(self._goal.places, self._goal.strength):
            for values in product(*(self._goal.allowed[place] for place in places)):
                yield tuple(zip(places, values, strict=True))

    def _row(self, values: Tuple) -> list[int | None]:
        row: list[int | None] = [None] * self._size
        for place, value in values:
            row[place] = value
        return row

    def _candidate(self, seed: Tuple) -> list[int]:
        """Return a row with a tuple, its other places set in random order, each to what covers most and can be completed."""
        row = self._row(seed)
        order = [place for place in range(self._size) if row[place] is None]
        self._random.shuffle(order)
        for place in order:
            for _, _, value in sorted(self._gains(row, place), reverse=True):
                row[place] = value
                if self._solver.fits(row, place) and self._solver.is_feasible(row):
                    break
        return [value for value in row if value is not None]

    def _gains(self, row: list[int | None], place: int) -> Iterator[tuple[int, float, int]]:
        for value in self._goal.allowed[place]:
            row[place] = value
            gain = sum(each in self._missing for each in self._within(row) if (place, value) in each)
            yield gain, self._random.random(), value
        row[place] = None

    def _gain(self, row: Sequence[int]) -> int:
        return sum(each in self._missing for each in self._within(row))

    def _take(self, row: Sequence[int]) -> None:
        for each in self._within(row):
            self._missing.pop(each, None)

    def _within(self, row: Sequence[int | None]) -> Iterator[tuple[tuple[int, Any], ...]]:
        """Return the tuples that count of what is set in a row."""
        there = [(place, row[place]) for place in self._goal.places if row[place] is not None]
        return combinations(there, self._goal.strength)
