"""Planted defects of scratch: what it held before, whose it is, and how much there is of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ep_conformance.saboteurs.kernel import ArrayKernel
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import ep

__all__: list[str] = []

_SECONDS = 0.002
"""How long a kernel works over its scratch; another stream's gets there meanwhile."""


class _OverScratch(ArrayKernel):
    """Copies the input of a softmax of float32 into scratch, and computes from there."""

    def __init__(self, descriptor: ep.Descriptor, cpu: ep.Device) -> None:
        super().__init__(descriptor, cpu)
        self.needed = self.descriptor.out.nbytes if descriptor.cell == "softmax/-/float32/dense" else 0
        self.scratch_nbytes = self.needed

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        given = dict(operands)
        if self.needed:
            scratch = given.pop("scratch")
            self.copy(given["x"], scratch)
            given["x"] = scratch
        super().run(cpu, given)

    def copy(self, x: ep.Memory, scratch: ep.Memory) -> None:
        """Fill the scratch."""
        source = np.frombuffer(x.host(), np.uint8)
        np.frombuffer(scratch.host(), np.uint8)[: source.size] = source


@killed_by("primitives/softmax/-/float32/dense/rows")
class TakesScratchForZeros(_OverScratch):
    """Add the input to what scratch holds, as if that were zeros."""

    def copy(self, x: ep.Memory, scratch: ep.Memory) -> None:
        source = np.frombuffer(x.host(), np.uint8)
        np.frombuffer(scratch.host(), np.uint8)[: source.size] |= source


@killed_by("runtime/scratch/streams-have-their-own")
class SharesScratchBetweenStreams(_OverScratch):
    """Work in one piece of scratch whatever the stream."""

    _shared: ClassVar[dict[int, ep.Memory]] = {}

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.needed:
            operands = {**operands, "scratch": self._shared.setdefault(self.needed, operands["scratch"])}
        super().run(cpu, operands)

    def copy(self, x: ep.Memory, scratch: ep.Memory) -> None:
        super().copy(x, scratch)
        time.sleep(_SECONDS)


@killed_by("runtime/scratch/steps-have-their-own")
class SharesScratchBetweenSteps(_OverScratch):
    """Give all bound steps of a primitive the scratch of the first."""

    _first: ep.Memory | None = None

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Callable[..., Any]:
        if self.needed:
            self._first = self._first or memories[-1]
            memories = (*memories[:-1], self._first)
        return super().bind(memories, scalars)

    def copy(self, x: ep.Memory, scratch: ep.Memory) -> None:
        super().copy(x, scratch)
        time.sleep(_SECONDS)


@killed_by("primitives/softmax/-/float32/dense/rows")
class AsksForTooLittleScratch(ArrayKernel):
    """Say half of the bytes that the launch works in."""

    def __init__(self, descriptor: ep.Descriptor, cpu: ep.Device) -> None:
        super().__init__(descriptor, cpu)
        if descriptor.cell == "softmax/-/float32/dense":
            self.scratch_nbytes = self.descriptor.out.nbytes // 2

    def operand(self, memory: ep.Memory) -> ep.Memory:
        more = 2 * memory.nbytes if memory.nbytes == self.scratch_nbytes else memory.nbytes
        found: ep.Memory = memory.handle.bytes_at(memory.offset, min(more, memory.handle.nbytes - memory.offset))
        return found

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        given = dict(operands)
        if self.scratch_nbytes:
            np.frombuffer(given.pop("scratch").host(), np.uint8)[...] = 0
        super().run(cpu, given)
