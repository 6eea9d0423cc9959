"""A Solver says whether a part of a situation can be completed, and completes it: values are tried in order, rules cut them off."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_primitives.situations.model import Model

__all__ = ["Solver"]


class Solver:
    """The rules of a model, over the places of its dimensions and of their values.

    A row is a list with the place of a value for each dimension, None where it is open.
    """

    def __init__(self, model: Model, allowed: Sequence[Sequence[int]]) -> None:
        self._allowed = allowed
        places = {dimension.name: place for place, dimension in enumerate(model.dimensions)}
        self._rules = [
            {
                places[name]: frozenset(model.dimensions[places[name]].values.index(value) for value in values)
                for name, values in rule.values.items()
            }
            for rule in model.rules
        ]
        self._of = [[rule for rule in self._rules if place in rule] for place in range(len(model.dimensions))]

    def fits(self, row: Sequence[int | None], place: int) -> bool:
        """Say whether no rule forbids the values of a row that are set, after the one at a place was."""
        return not any(all(row[each] in values for each, values in rule.items()) for rule in self._of[place])

    def is_feasible(self, row: list[int | None]) -> bool:
        """Say whether what is open can be set such that no rule forbids the row. Leaves the row as it was."""
        found = self.completed(row)
        return found is not None

    def completed(self, row: Sequence[int | None]) -> list[int | None] | None:
        """Return the row with a value wherever a rule could ask for one; None if there is no such row."""
        for place, value in enumerate(row):
            if value is not None and not self.fits(row, place):
                return None
        return self._search(list(row), self._open(row))

    def _open(self, row: Sequence[int | None]) -> list[int]:
        """Return the open places of rules that the row might still break, the most ruled last."""
        alive = [
            rule
            for rule in self._rules
            if all(row[place] is None or row[place] in values for place, values in rule.items())
        ]
        return sorted({place for rule in alive for place in rule if row[place] is None})

    def _search(self, row: list[int | None], places: list[int]) -> list[int | None] | None:
        if not places:
            return row
        place, *rest = places
        for value in self._allowed[place]:
            row[place] = value
            if self.fits(row, place):
                found = self._search(row, rest)
                if found is not None:
                    return found
        row[place] = None
        return None
