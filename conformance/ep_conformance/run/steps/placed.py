"""A Placed holds the operands of a launch, in memory of the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep
    from ep_conformance.judge.operand import Image, Operand

__all__ = ["Held", "Placed"]

_LARGE: Final = 4 << 20


@dataclass(frozen=True)
class Held:
    """An operand and the allocation that holds it."""

    operand: Operand
    whole: ep.Memory

    @property
    def memory(self) -> ep.Memory:
        """The view of the allocation that a primitive gets."""
        return self.within(self.whole)

    def within(self, whole: ep.Memory) -> ep.Memory:
        """Return that view of an allocation of as many bytes."""
        start = self.operand.start
        return whole[start : start + self.operand.spec.nbytes]

    def download(self, stream: ep.Stream) -> Image:
        """Enqueue the allocation to a new image."""
        image = np.empty_like(self.operand.image)
        stream.download(image, self.whole)
        return image


@dataclass(frozen=True)
class Placed:
    """What a launch works on.

    operands   : the arguments of the launch: memories, numbers, and scratch if the step takes it
    tensors    : where the draw's operands are, by name
    places     : for each argument that is a memory, the name of the tensor whose memory it is
    scratch    : None where the launch takes EP's, or none
    way        : as in `Turn`
    is_apart   : False if the tensors lie in one memory
    elsewhere  : of a graph that is moved the allocations to capture it with, by the names of the tensors
    """

    stream: ep.Stream
    operands: Mapping[str, Any]
    tensors: Mapping[str, Held]
    places: Mapping[str, str]
    scratch: Held | None
    way: str
    is_apart: bool
    elsewhere: Mapping[str, ep.Memory]

    def give_back(self) -> None:
        """Close large memories, so that at most one of each exists at a time."""
        for held in self.tensors.values():
            if held.operand.image.nbytes > _LARGE:
                held.whole.close()
