"""Met says which pairs of situations the cases that passed a run have met, family by family."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ep_primitives.situations.family import SituatedFamily

import ep
from ep_conformance.coverage.count import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ep_conformance.coverage.count import Count

__all__ = ["Met", "Row", "met"]


class Row(NamedTuple):
    """How many tuples were met, of those that are possible."""

    name: str
    met: int
    possible: int


class Met(NamedTuple):
    """What a family's cases have met, over all of its layouts and kernels.

    pairs       : of all dimensions together
    triples     : of the dangerous ones; none are possible in profile quick, which does not ask for them
    dimensions  : pairs with a dimension, by its first word
    impossible  : how many pairs there cannot be, by the reason
    """

    family: str
    pairs: Row
    triples: Row
    dimensions: Sequence[Row]
    impossible: Mapping[str, int]


def met(passed: Iterable[str], profile: str) -> list[Met]:
    """Return what cases have met, by their ids, of the families that construct cases and have one among them."""
    ids = frozenset(passed)
    names = {identity.split("/")[1] for identity in ids if identity.startswith("primitives/")}
    families = [each for name, each in ep.families().items() if name in names and isinstance(each, SituatedFamily)]
    return [_met(family, ids, profile) for family in families]


def _met(family: SituatedFamily, ids: frozenset[str], profile: str) -> Met:
    pairs = count(family, profile, by_body=False, among=ids)
    triples = count(family, profile, "dangerous triples", among=ids) if profile != "quick" else []
    had: Counter[str] = Counter()
    could: Counter[str] = Counter()
    for counted in pairs:
        for names, number in counted.possible.items():
            for word in {name.partition("-")[0] for name in names}:
                could[word] += number
                had[word] += counted.met[names]
    reasons = Counter("; ".join(why) for counted in pairs for why in counted.impossible.values())
    dimensions = [Row(word, had[word], number) for word, number in sorted(could.items())]
    return Met(family.name, _sum("pairs", pairs), _sum("triples", triples), dimensions, dict(reasons.most_common()))


def _sum(name: str, counts: Sequence[Count]) -> Row:
    return Row(name, sum(each.met.total() for each in counts), sum(each.possible.total() for each in counts))
