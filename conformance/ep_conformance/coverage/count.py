"""Count which tuples of values the cases of a family have met, and which of the others are possible."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, Literal

from ep_conformance.coverage.census import census
from ep_conformance.coverage.feasible import Feasibility

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ep_primitives.situations.family import SituatedFamily

    from ep_conformance.coverage.census import Place, Situations

__all__ = ["Count", "Kind", "Tuple", "count"]

Kind = Literal["pairs", "triples", "dangerous triples"]

Tuple = tuple[tuple[str, str], ...]
"""Dimensions with a value each, in the order of the model."""


@dataclass
class Count:
    """The tuples of one layout of a family, over all of its kernels.

    met         : number of them that cases have, by the dimensions' names
    possible    : number of them that the rules allow
    missing     : those that are possible and that no case has, by kernel
    impossible  : those that no situation has, with the reasons
    """

    layout: str
    kernels: int = 0
    cases: int = 0
    met: Counter[tuple[str, ...]] = field(default_factory=Counter)
    possible: Counter[tuple[str, ...]] = field(default_factory=Counter)
    missing: dict[Place, list[Tuple]] = field(default_factory=dict)
    impossible: dict[Tuple, tuple[str, ...]] = field(default_factory=dict)

    def of(self, dimension: str) -> tuple[int, int]:
        """Return how many tuples with a dimension are met, and how many are possible."""
        met, possible = (
            sum(number for names, number in counter.items() if dimension in names)
            for counter in (self.met, self.possible)
        )
        return met, possible


def count(
    family: SituatedFamily,
    profile: str,
    kind: Kind = "pairs",
    *,
    by_body: bool = True,
    among: Collection[str] | None = None,
) -> list[Count]:
    """Return the tuples of a kind, layout by layout.

    kind      : dangerous triples are of dangerous dimensions alone; the signatures of a kernel meet them together
    by_body   : False to let the signatures of a kernel meet all tuples together, as they always do in profile quick
    among     : ids of the cases that count, None for all
    """
    found: dict[str, Count] = {}
    rooms: dict[tuple[Any, ...], Feasibility] = {}  # most kernels of a layout lack the same
    of_danger = kind == "dangerous triples"
    by_body = by_body and profile != "quick" and not of_danger
    for place, situations in census(family, profile, by_body=by_body, among=among).items():
        counted = found.setdefault(place.layout, Count(place.layout))
        model = family.model(place.layout)
        if model is not None:
            lacks = family.lacks(place.signature, place.layout)
            key = place.layout, *sorted((name, tuple(values)) for name, values in lacks.items())
            if key not in rooms:
                rooms[key] = Feasibility(model, lacks, is_quick=profile == "quick")
            room = rooms[key]
            names = [each.name for each in model.dimensions if each.is_dangerous or not of_danger]
            _add(counted, place, situations, _tuples(room, names, 2 if kind == "pairs" else 3), room)
    return [*found.values()]


def _add(counted: Count, place: Place, situations: Situations, asked: Iterable[Tuple], room: Feasibility) -> None:
    counted.kernels += 1
    counted.cases += len(situations)
    met: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for each in asked:
        names, values = zip(*each, strict=True)
        if names not in met:
            met[names] = {tuple(situation[name] for name in names) for situation in situations}
        if values in met[names]:
            counted.met[names] += 1
            counted.possible[names] += 1
        elif reasons := room.reasons(dict(each)):
            counted.impossible[each] = reasons
        else:
            counted.possible[names] += 1
            counted.missing.setdefault(place, []).append(each)


def _tuples(room: Feasibility, dimensions: Sequence[str], strength: int) -> Iterator[Tuple]:
    for names in combinations(dimensions, strength):
        for values in product(*(sorted(room.domains[name]) for name in names)):
            yield tuple(zip(names, values, strict=True))
