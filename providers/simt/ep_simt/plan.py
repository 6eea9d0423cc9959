"""Plans: the launches that do a descriptor's work, one after the other, for any API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ep.work.descriptor import Descriptor

__all__ = ["Given", "Launch", "Made", "Operand", "Plan", "operands_of"]


class Operand(NamedTuple):
    """Two arguments: the handle of a memory, and where its first element lies.

    place     : the number of the memory in the launch; scratch comes after the tensors
    itemsize  : bytes of an element
    offset    : elements from the memory's first byte
    """

    place: int
    itemsize: int
    offset: int = 0


class Given(NamedTuple):
    """One argument: a number of the launch."""

    place: int


class Made(NamedTuple):
    """As many arguments as the function makes of all numbers of a launch: `width` of them."""

    make: Callable[[tuple[Any, ...]], Sequence[Any]]
    width: int


class Launch(NamedTuple):
    """One entry, over how many work-items it runs, and its arguments.

    items      : work-items that have something to do; the provider rounds them up to whole groups
    group      : work-items of a group; 0: the provider chooses
    arguments  : in the order of the entry's parameters; anything but an Operand, Given or Made is a constant
    """

    entry: str
    items: int
    group: int
    arguments: tuple[Any, ...]


class Plan(NamedTuple):
    """Launches in their order: each sees the results of those before it.

    scratch_nbytes  : of a memory that they share beside the operands
    """

    launches: tuple[Launch, ...]
    scratch_nbytes: int = 0


def operands_of(descriptor: Descriptor, offsets: Sequence[int]) -> list[Operand]:
    """Return the arguments of all tensors that are present.

    offsets : of every tensor, in elements
    """
    return [
        Operand(place, spec.itemsize, offset)
        for place, ((_, spec), offset) in enumerate(zip(descriptor.tensors, offsets, strict=True))
        if spec is not None
    ]
