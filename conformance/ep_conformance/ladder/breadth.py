"""The families that a provider serves, and the best order in which to write the others."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import ep
from ep_conformance.plan.planned import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ep_conformance.plan.planned import Planned

__all__ = ["Breadth", "Missing", "survey_breadth"]


class Missing(NamedTuple):
    """A family of which a provider serves no cell.

    unlocks : families that come with it: they lower to it and to families that are served already
    """

    family: str
    unlocks: tuple[str, ...]


class Breadth(NamedTuple):
    """How much of the suite a provider serves.

    served   : families of which it serves a cell
    missing  : the families to write, the simplest first; without those that one of them unlocks
    """

    served: tuple[str, ...]
    missing: tuple[Missing, ...]


def survey_breadth(plan: Iterable[Planned]) -> Breadth:
    """Return the breadth of a plan that covers the whole suite.

    Simplest first: a family that unlocks more comes earlier, then one with fewer tensors, then one with fewer cells.
    """
    served = {p.id.split("/")[1] for p in plan if p.id.startswith("primitives/") and p.standing is not Standing.REFUSED}
    families = ep.families()
    roots: dict[str, set[str]] = {}
    unlocks: dict[str, list[str]] = defaultdict(list)
    size: dict[str, tuple[int, int]] = {}
    for name, family in families.items():
        listed = list(family.cells())
        sample = family.sample(listed[0])
        size[name] = sum(isinstance(spec, ep.TensorSpec) for spec in sample.specs), len(listed)
        roots[name] = _lowest(sample)
        lacking = roots[name] - {*served}
        if len(lacking) == 1 and lacking != {name}:
            unlocks[lacking.pop()].append(name)
    missing = [
        Missing(name, tuple(other for other in unlocks[name] if other not in served))
        for name in families
        if name not in served and roots[name] <= {name, *served}
    ]
    missing.sort(key=lambda missing: (-len(missing.unlocks), *size[missing.family]))
    return Breadth(tuple(name for name in families if name in served), tuple(missing))


def _lowest(descriptor: ep.Descriptor) -> set[str]:
    """Return the families that a descriptor lowers to in the end; its own alone if a plainer one of its family is among them."""
    found = set[str]().union(*[_lowest(stage.descriptor) for stage in descriptor.lower()])
    return found if found and descriptor.family not in found else {descriptor.family}
