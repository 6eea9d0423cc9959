"""Covering arrays, greedily: each new row begins with a tuple that is not covered yet and takes in as many others as it can."""

from __future__ import annotations

from itertools import combinations, product
from random import Random
from typing import TYPE_CHECKING, Final

from ep_tools.covering.solver import Solver

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ep_primitives.situations.model import Model, Situation

__all__ = ["extended"]

_CANDIDATES: Final = 12
"""Rows that are tried for each that is taken."""

Tuple = tuple[tuple[int, int], ...]
"""Places of dimensions with places of their values."""


def extended(model: Model, rows: Sequence[Situation], seed: int = 0) -> list[dict[str, str]]:
    """Return the situations that a model needs beside those there are: pairs first of what is quick, then of all values."""
    given = [[d.values.index(row[d.name]) for d in model.dimensions] for row in rows]
    quick = [[i for i, value in enumerate(d.values) if value not in d.late] for d in model.dimensions]
    every = [[*range(len(d.values))] for d in model.dimensions]
    random = Random(seed)  # noqa: S311 - nothing is secret
    found: list[list[int]] = []
    for allowed in (quick, every):
        known = [row for row in (*given, *found) if all(v in values for v, values in zip(row, allowed, strict=True))]
        found += _Covering(model, allowed, known, random).rows()
    return [{d.name: d.values[value] for d, value in zip(model.dimensions, row, strict=True)} for row in found]


class _Covering:
    """What is not covered yet of the pairs of a model's values."""

    def __init__(
        self, model: Model, allowed: Sequence[Sequence[int]], given: Sequence[Sequence[int]], random: Random
    ) -> None:
        self._random, self._allowed = random, allowed
        self._solver = Solver(model, allowed)
        self._size = len(model.dimensions)
        self._strength = min(2, self._size)
        self._missing = dict.fromkeys(each for each in self._tuples() if self._solver.is_feasible(self._row(each)))
        for row in given:
            self._take(row)

    def rows(self) -> Iterator[list[int]]:
        """Yield rows until nothing is missing."""
        while self._missing:
            seed = next(iter(self._missing))
            row = max((self._candidate(seed) for _ in range(_CANDIDATES)), key=self._gain)
            self._take(row)
            yield row

    def _tuples(self) -> Iterator[Tuple]:
        for places in combinations(range(self._size), self._strength):
            for values in product(*(self._allowed[place] for place in places)):
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
        for value in self._allowed[place]:
            mine = (place, value)
            gain = sum(
                ((each, other), mine) in self._missing if each < place else (mine, (each, other)) in self._missing
                for each, other in enumerate(row)
                if other is not None and each != place
            )
            yield gain, self._random.random(), value

    def _gain(self, row: Sequence[int]) -> int:
        return sum(each in self._missing for each in combinations(enumerate(row), self._strength))

    def _take(self, row: Sequence[int]) -> None:
        for each in combinations(enumerate(row), self._strength):
            self._missing.pop(each, None)
