"""A Rule is how placements go through the operations of a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ep_sharded.placement import Broadcast, Placement, Split

if TYPE_CHECKING:
    import ep

__all__ = ["OUT", "Rule", "Signature", "aligned", "everywhere"]

OUT = "out"

Signature = Mapping[str, Placement]
"""The placements of the tensors, by operand, in one dimension of a mesh."""


class Rule(NamedTuple):
    """How placements go through a family.

    signatures : of a descriptor of whole tensors, on a mesh with so many ranks in all; among equally cheap ones the first is
                 taken. Raises UnsupportedError for a descriptor that no placement goes through
    part       : the descriptor of one rank's parts, of the whole one and the specs of its tensors there, by operand
    multiplies : whether terms are factors: then only what is partial already is taken as partial, since the zeros that a plan
                 makes of others would meet infinities
    refused    : numbers of a launch that no placement goes through
    """

    signatures: Callable[[Any, int], list[Signature]]
    part: Callable[[Any, Mapping[str, ep.TensorSpec]], ep.Descriptor]
    multiplies: Callable[[Any], bool] = lambda _: False
    refused: tuple[str, ...] = ()


def everywhere(names: list[str], placement: Placement | None = None) -> Signature:
    """Return the signature that has one placement for all operands, Broadcast if it is not given."""
    return dict.fromkeys([*names, OUT], placement or Broadcast())


def aligned(spec: ep.TensorSpec, ndim: int, axis: int, extent: int) -> Placement:
    """Return how an operand that broadcasts to rank `ndim` is placed where that axis, of an extent, is split."""
    own = axis - (ndim - spec.ndim)
    return Split(own) if own >= 0 and spec.shape[own] == extent else Broadcast()
