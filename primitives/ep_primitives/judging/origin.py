"""Where elements of an output come from: indices of operands that are broadcast, and rows that several are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep.layout.role import INPUT

if TYPE_CHECKING:
    from collections.abc import Collection

    from ep import Descriptor

__all__ = ["Index", "broadcast_index", "broadcast_origin", "row_index", "summed_index"]

Index = tuple[int | slice, ...]


def broadcast_index(shape: tuple[int, ...], at: Index) -> Index:
    """Return which element of a tensor meets another one's at an index, when it is broadcast to it."""
    return tuple(0 if extent == 1 else i for extent, i in zip(shape, at[len(at) - len(shape) :], strict=True))


def broadcast_origin(descriptor: Descriptor, at: Index) -> dict[str, Index]:
    """Return the element of each input that is broadcast to the output."""
    return {
        role.name: broadcast_index(spec.shape, at)
        for role, spec in descriptor.tensors
        if role.use == INPUT and spec is not None
    }


def row_index(rank: int, gone: Collection[int], at: Index) -> Index:
    """Return the row of a tensor of some rank that an element is made of: all along the dimensions that are gone.

    at : index of the output, which has those dimensions, or has them not
    """
    if len(at) == rank:
        return tuple(slice(None) if axis in gone else at[axis] for axis in range(rank))
    kept = iter(at)
    return tuple(slice(None) if axis in gone else next(kept) for axis in range(rank))


def summed_index(shape: tuple[int, ...], at: Index, whole: tuple[int, ...]) -> Index:
    """Return which elements of a tensor are summed into one of an output that lacks some of its dimensions, or has 1 there.

    at, whole : index and shape of the output, aligned with the tensor's at the right
    """
    lead = len(shape) - len(whole)
    found: list[int | slice] = []
    for axis, extent in enumerate(shape):
        place = axis - lead
        is_summed = extent > 1 and (place < 0 or whole[place] == 1)
        found.append(slice(None) if is_summed else 0 if place < 0 or extent == 1 else at[place])
    return tuple(found)
