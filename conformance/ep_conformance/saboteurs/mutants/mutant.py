"""A Mutant is a fault of a family's results in one layout and kernel, under one value of its dimensions or a pair of values."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives.judging.accuracy import Conditioned
from ep_primitives.situations.family import SituatedFamily

import ep
from ep_conformance.plan.catalogue import may_begin
from ep_conformance.saboteurs.mutants.fault import FAULTS
from ep_conformance.saboteurs.strangers.fault import FAULTS as STRANGE_FAULTS
from ep_conformance.saboteurs.strangers.table import CONDITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ep_primitives.cases.signature import Signature

__all__ = ["STRANGER", "Mutant", "made"]

STRANGER: Final = "stranger"

_NOTHING: Final = ("empty",)
"""Layouts in which nothing is written that could be wrong."""


class Mutant(NamedTuple):
    """One defect.

    cells   : its signatures, as "op/dtypes", which share a kernel; of a stranger's mutant all of the layout
    fault   : of FAULTS, or of the strangers' faults
    values  : dimensions with the values that a launch must have for the fault to happen, or STRANGER with the name of a condition
    """

    family: str
    layout: str
    cells: tuple[str, ...]
    fault: str
    values: tuple[tuple[str, str], ...]

    @property
    def is_strange(self) -> bool:
        """Whether somebody thought of it who had not seen the dimensions."""
        return self.values[0][0] == STRANGER

    def __str__(self) -> str:
        values = " and ".join(f"{name}.{value}" for name, value in self.values)
        return f"{self.family}/{self.cells[0]}/{self.layout}: {self.fault} under {values}"

    @classmethod
    def read(cls, record: Sequence[Any]) -> Mutant:
        """Return the mutant that JSON made a list of."""
        family, layout, cells, fault, values = record
        return cls(family, layout, tuple(cells), fault, tuple((name, value) for name, value in values))


def made(count: int, seed: int, profile: str, pattern: str | None = None) -> list[Mutant]:
    """Return so many mutants of each family that states situations and may have cases of a pattern: a third is a stranger's.

    Of the others half are of single values, half of pairs. Each is possible: a situation of the family's arrays has its values.
    """
    families = [each for each in ep.families().values() if isinstance(each, SituatedFamily)]
    families = [each for each in families if may_begin(pattern, f"primitives/{each.name}/")]
    return [mutant for family in families for mutant in _of(family, count, seed, profile)]


def _of(family: SituatedFamily, count: int, seed: int, profile: str) -> Iterator[Mutant]:
    dice = random.Random(f"{family.name} {seed}")  # noqa: S311 - nothing is secret
    places = [place for place in _kernels(family, profile) if place[0] not in _NOTHING]
    named: dict[str, list[ep.Cell]] = defaultdict(list)
    for cell in family.cells():
        named[cell.layout].append(cell)
    samples = [family.sample(cell) for cells in named.values() for cell in cells[:1]]
    is_near = any(isinstance(family.accuracy(each), Conditioned) for each in samples)
    faults = [
        each for each in FAULTS if each != "flushed" or not is_near
    ]  # a bound on a sum allows for a subnormal number
    strange = count // 3
    for number in range(count - strange if places else 0):
        layout, signatures = dice.choice(places)
        values = dice.choice(_tuples(family, layout, signatures[0], 1 + number % 2))
        cells = tuple(f"{cell.op}/{cell.dtypes}" for cell in named[layout] if family.signature(cell) in signatures)
        yield Mutant(family.name, layout, cells, dice.choice(faults), values)
    conditions = [each for each in CONDITIONS if family.name in each.families]
    for each in dice.sample(conditions, min(strange, len(conditions))):
        layout = dice.choice([layout for layout in each.layouts if layout in family.layouts])
        cells = tuple(f"{cell.op}/{cell.dtypes}" for cell in named[layout])
        yield Mutant(family.name, layout, cells, dice.choice([*STRANGE_FAULTS]), ((STRANGER, each.name),))


def _kernels(family: SituatedFamily, profile: str) -> list[tuple[str, Sequence[Signature]]]:
    """Return the layouts with the signatures of a kernel: in profile quick those of a shared one, else those of one body."""
    found: list[tuple[str, Sequence[Signature]]] = []
    for layout in family.layouts:
        for shared in family.kernels(layout).values() if family.model(layout) is not None else ():
            if profile == "quick":
                found.append((layout, shared))
            else:
                bodies: dict[Any, list[Signature]] = {}
                for signature in shared:
                    bodies.setdefault(family.body(signature), []).append(signature)
                found += [(layout, body) for body in bodies.values()]
    return found


def _tuples(family: SituatedFamily, layout: str, signature: Signature, size: int) -> list[tuple[tuple[str, str], ...]]:
    """Return the values, or pairs of them, that situations of a kernel have and that are not all usual."""
    rows = family.array(layout, family.lacks(signature, layout))
    every = (each for row in rows if row.tier == "quick" for each in combinations(row.situation.items(), size))
    return [*dict.fromkeys(every)]
