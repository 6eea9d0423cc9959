"""A condition of a launch, under which kernels were seen to be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import ep
    from ep_conformance.saboteurs.kernel import Array

__all__ = ["Condition", "Launch"]


@dataclass(frozen=True)
class Launch:
    """What a kernel sees of a launch.

    addresses : by operand's name, where its memory view begins
    lies      : by operand's name, the allocation that its memory is part of; equal numbers are one allocation
    arrays    : contents of an input by name, as an array of its shape, before the launch; of a number given at launch
                an array of rank 0, its default where the launch leaves it out
    launches  : how many launches of this kernel there were, this one included
    is_graph  : whether it comes from a graph
    """

    descriptor: ep.Descriptor
    addresses: Mapping[str, int]
    lies: Mapping[str, int]
    arrays: Callable[[str], Array]
    launches: int
    is_graph: bool


class Condition(NamedTuple):
    """Something that can be true of launches.

    name     : its words, joined by hyphens
    why      : the mistake of real kernels in which results are wrong here
    families : the families in which it can be met and a kernel can go wrong; ("*",) for all
    layouts  : the layouts in which it can be met, in each of the families that has them; ("*",) for all
    holds    : says whether it is true of a launch of one of the families
    """

    name: str
    why: str
    families: tuple[str, ...]
    layouts: tuple[str, ...]
    holds: Callable[[Launch], bool]
