"""A Mesh is the ranks of a communicator in one or two dimensions, with communicators along each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ep.ground.glimpse import glimpse
from ep.ground.uncopied import Uncopied

import ep
from ep_sharded.layout import extents_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Mesh", "check_mesh", "same_mesh"]


class Mesh(Uncopied):
    """One rank's view of a mesh. Its communicators are its own, by `split`: the given one stays free for other use.

    communicator : of all ranks; rank r is at place (r // extents[1], r % extents[1])
    extents      : one or two, their product is the number of ranks; () for one dimension of all ranks

    place        : of this rank
    device       : of this rank
    Every rank makes the mesh, with the same extents; none waits for the others. Raises TypeError or ValueError.
    """

    def __init__(self, communicator: ep.Communicator, extents: Sequence[int] = ()) -> None:
        if not isinstance(communicator, ep.Communicator):
            message = f"Mesh: communicator is {glimpse(communicator)}, needs a Communicator; ep.communicator(device, group) makes one"
            raise TypeError(message)
        chosen = extents_of("Mesh", (communicator.size,) if type(extents) is tuple and not extents else extents)
        if math.prod(chosen) != communicator.size:
            message = (
                f"Mesh: extents are {chosen}, needs such whose product is {communicator.size}, the number of ranks"
            )
            raise ValueError(message)
        self.extents = chosen
        self.device = communicator.device
        self.rank = communicator.rank
        self.place = self.place_of(communicator.rank)
        self._all = communicator.split(range(communicator.size))
        self._along = [
            communicator.split([self.rank_of(place) for place in self.members((dimension,))])
            for dimension in range(len(chosen))
        ]

    def place_of(self, rank: int) -> tuple[int, ...]:
        """Return the place of a rank."""
        return divmod(rank, self.extents[-1]) if len(self.extents) > 1 else (rank,)

    def rank_of(self, place: Sequence[int]) -> int:
        """Return the rank at a place."""
        return place[0] * self.extents[-1] + place[1] if len(self.extents) > 1 else place[0]

    def members(self, dimensions: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the places along one dimension of the mesh through this rank's place, or all, in the order of the ranks."""
        if len(dimensions) == len(self.extents):
            return [self.place_of(rank) for rank in range(math.prod(self.extents))]
        (moved,) = dimensions
        return [(*self.place[:moved], number, *self.place[moved + 1 :]) for number in range(self.extents[moved])]

    def communicator(self, dimensions: Sequence[int]) -> ep.Communicator:
        """Return the communicator of those members."""
        return self._all if len(dimensions) == len(self.extents) else self._along[dimensions[0]]

    def close(self) -> None:
        """Close the communicators. Idempotent."""
        for each in (self._all, *self._along):
            each.close()

    def __repr__(self) -> str:
        return f"<Mesh: place {self.place} of {' x '.join(map(str, self.extents))} on {self.device.name}>"


def check_mesh(what: str, mesh: Any) -> None:
    """Raise TypeError unless it is a Mesh."""
    if not isinstance(mesh, Mesh):
        message = f"{what}: mesh is {glimpse(mesh)}, needs a Mesh; Mesh(communicator, extents) makes one"
        raise TypeError(message)


def same_mesh(what: str, meshes: Sequence[Any]) -> Mesh:
    """Return the one mesh of several tensors. Raises ValueError if they have several, or none."""
    first, *others = meshes or [None]
    if not isinstance(first, Mesh) or any(each is not first for each in others):
        message = (
            f"{what}: the operands have {len({*map(id, meshes)})} meshes, needs one; distribute all of them over it"
        )
        raise ValueError(message)
    return first
