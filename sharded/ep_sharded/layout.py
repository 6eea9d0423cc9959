"""A Layout says which part of a tensor lies at which place of a mesh."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ep.ground.glimpse import glimpse
from ep.integers import integer, several
from ep_collectives import AllReduce

from ep import TensorSpec
from ep_sharded.placement import Partial, Placement, Split

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Layout", "extents_of", "parts", "placements_of"]

_MOST = 2
_MOST_COUNTED = 16
"""Of placements: that many too many are counted in messages."""


def parts(extent: int, count: int) -> tuple[range, ...]:
    """Return `count` consecutive parts of range(extent); the first extent % count of them are one longer."""
    least, more = divmod(extent, count)
    ends = [0]
    for number in range(count):
        ends.append(ends[-1] + least + (number < more))
    return tuple([range(begin, end) for begin, end in itertools.pairwise(ends)])


def extents_of(what: str, given: Any) -> tuple[int, ...]:
    """Return the extents of a mesh: one or two, above 0. Raises TypeError or ValueError."""
    extents = tuple([integer(f"{what}: extent", each) for each in several(what, given, _MOST, "extents")])
    if not 0 < len(extents) <= _MOST or min(extents) < 1:
        message = f"{what}: extents are {glimpse(given)}, needs one or two above 0; give such as (2, 2)"
        raise ValueError(message)
    return extents


def placements_of(what: str, given: Iterable[Any], ndim: int, mesh: Sequence[int]) -> tuple[Placement, ...]:
    """Return one placement for each dimension of a mesh, their axes not negative. Raises TypeError or ValueError."""
    chosen = several(what, given, _MOST_COUNTED, "placements")
    if len(chosen) != len(mesh):
        message = (
            f"{what}: {len(chosen)} placements are given, needs {len(mesh)}, one for each dimension of the mesh {mesh}"
        )
        raise ValueError(message)
    for each in chosen:
        if not isinstance(each, Placement):
            message = f"{what}: {glimpse(each)} is no placement; needs Split(axis), Broadcast() or Partial(op)"
            raise TypeError(message)
        if isinstance(each, Split) and not -ndim <= each.axis < ndim:
            message = f"{what}: {each} splits an axis that is not there; the tensor has {ndim} dimensions"
            raise ValueError(message)
    return tuple([Split(each.axis % ndim) if isinstance(each, Split) else each for each in chosen])


@dataclass(frozen=True)
class Layout:
    """A tensor over a mesh, as a value: hashable, the same at every rank.

    spec       : of the whole tensor, dense
    mesh       : the extents of the mesh, one or two
    placements : one for each dimension of the mesh. An axis that several dimensions split is split by the first, and each
                 part by the next. Partial placements have one op

    Raises TypeError or ValueError for anything else, and for an op that AllReduce lacks for the element type.
    """

    spec: TensorSpec
    mesh: tuple[int, ...]
    placements: tuple[Placement, ...]

    def __post_init__(self) -> None:
        if type(self.spec) is not TensorSpec or not self.spec.is_dense or self.spec.offset:
            message = f"Layout: spec is {glimpse(self.spec)}, needs a TensorSpec of a dense tensor without an offset"
            raise ValueError(message)
        object.__setattr__(self, "mesh", extents_of("Layout: mesh", self.mesh))
        object.__setattr__(self, "placements", placements_of("Layout", self.placements, self.spec.ndim, self.mesh))
        ops = sorted({each.op for each in self.placements if isinstance(each, Partial)})
        if len(ops) > 1:
            message = f"Layout: placements are {self.words}, and {' and '.join(ops)} do not commute; give all partial placements one op"
            raise ValueError(message)
        for op in ops:
            AllReduce(op, x=self.spec, out=self.spec)

    def box(self, place: Sequence[int]) -> tuple[range, ...]:
        """Return which elements along each axis lie at a place of the mesh."""
        found = [range(extent) for extent in self.spec.shape]
        for count, number, placement in zip(self.mesh, place, self.placements, strict=True):
            if isinstance(placement, Split):
                axis = placement.axis
                found[axis] = found[axis][slice_of(parts(len(found[axis]), count)[number])]
        return tuple(found)

    def local(self, place: Sequence[int]) -> TensorSpec:
        """Return the spec of the tensor at a place of the mesh."""
        return TensorSpec(self.spec.dtype, tuple([len(each) for each in self.box(place)]))

    @cached_property
    def largest(self) -> TensorSpec:
        """The spec at the first place, the largest of all."""
        return self.local((0,) * len(self.mesh))

    @property
    def words(self) -> str:
        """The placements in words."""
        return f"[{', '.join(map(str, self.placements))}]"

    def placed(self, placements: Sequence[Placement]) -> Layout:
        """Return the layout of the same tensor with other placements."""
        return Layout(self.spec, self.mesh, tuple(placements))

    def __str__(self) -> str:
        return f"{self.spec.dtype} {self.spec.shape} {self.words} over {' x '.join(map(str, self.mesh))} ranks"


def slice_of(part: range) -> slice:
    """Return the slice that takes a part."""
    return slice(part.start, part.stop)
