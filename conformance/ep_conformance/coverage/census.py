"""A Census is the situations that the cases of a profile have, by layout and kernel of a family."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ep_primitives.cases.case import Case

from ep_conformance.plan.catalogue import cell_cases, prefix_of

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

    from ep_primitives.cases.signature import Signature
    from ep_primitives.situations.family import SituatedFamily

__all__ = ["Place", "census"]

Situations = list[dict[str, str]]


class Place(NamedTuple):
    """Where every pair must be met.

    kernel     : what the family says that signatures share; or, beside that, a body
    signature  : one of them
    """

    layout: str
    kernel: Hashable
    signature: Signature


def census(
    family: SituatedFamily, profile: str, *, by_body: bool, among: Collection[str] | None = None
) -> Mapping[Place, Situations]:
    """Return the situations of a profile's cases; none for a layout whose cases are all made by hand.

    among : ids of the cases that count, None for all
    """
    found: dict[Place, Situations] = defaultdict(list)
    tried = None if among is None else {identity[: identity.rfind("/") + 1] for identity in among}
    places: dict[tuple[str, Hashable], Place] = {}
    for cell in family.cells():
        if family.model(cell.layout) is None:
            continue
        signature = family.signature(cell)
        shared = family.shared(signature, cell.layout)
        kernel = (shared, family.body(signature)) if by_body else shared
        place = places.setdefault((cell.layout, kernel), Place(cell.layout, kernel, signature))
        situations = found[place]
        if tried is not None and prefix_of(cell) not in tried:  # to make a cell's cases takes a millisecond
            continue
        met = [
            each.case.situation
            for each in cell_cases(family, cell, profile)
            if isinstance(each.case, Case) and (among is None or each.id in among)
        ]
        situations += [dict(situation) for situation in met if situation]
    return found
