"""Saboteurs of random fills: states that are not what the stream made of them, words that go to the wrong elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import ep
from ep_conformance.saboteurs.kernel import ArrayKernel
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.stream import bytes_of

if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = ["BeginsWithABlock", "CountsElements", "DrawsTheSameAgain", "NumbersByMemory", "ReadsTheStateEarly"]


class _RandomKernel(ArrayKernel):
    """A kernel that treats random fills in its own way, and all others as the honest one does."""

    @property
    def is_random(self) -> bool:
        return self.descriptor.family == "random_fill"


@killed_by("runtime/random/launches-draw-new-numbers")
class DrawsTheSameAgain(_RandomKernel):
    """Leave the state of a generator as it was."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        before = self.array(operands, "state").copy() if self.is_random else None
        super().run(cpu, operands)
        if before is not None:
            self.array(operands, "state")[...] = before


@killed_by("primitives/random_fill/uniform/float64/dense/size-17")
class CountsElements(_RandomKernel):
    """Advance a generator by one word an element, also where an element takes two."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        before = int(self.array(operands, "state")[1]) if self.is_random else None
        super().run(cpu, operands)
        if before is not None:
            self.array(operands, "state")[1] = (before + self.descriptor.out.size) % 2**64


@killed_by("primitives/random_fill/words/uint32/dense/at-word-1")
class BeginsWithABlock(_RandomKernel):
    """Begin every launch with the first word of a block of four."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if not self.is_random:
            super().run(cpu, operands)
            return
        state = self.array(operands, "state")
        skipped = state[1] % np.uint64(4)
        state[1] -= skipped
        super().run(cpu, operands)
        state[1] += skipped


@killed_by("primitives/random_fill/words/uint32/strided/transposed-out")
class NumbersByMemory(_RandomKernel):
    """Number the elements of an output by where they lie, not by their indices."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        out = descriptor.out
        if descriptor.family != "random_fill" or min(out.strides, default=0) < 0:
            return descriptor
        axes = sorted(range(out.ndim), key=lambda axis: -out.strides[axis])
        shape, strides = tuple(out.shape[axis] for axis in axes), tuple(out.strides[axis] for axis in axes)
        sorted_ = ep.TensorSpec(out.dtype, shape, strides, out.offset)
        return self.remade(descriptor, (*descriptor.specs[:-1], sorted_), descriptor.attributes)


@killed_by("runtime/random/state-advances-in-stream-order")
class ReadsTheStateEarly(_RandomKernel):
    """Read the state of a generator when a launch is enqueued, not when the stream gets there."""

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if self.is_random:
            self._early = np.frombuffer(bytes_of(memories[0]).host(), np.uint64).copy()
        super().launch(stream, memories, scalars)

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.is_random:
            self.array(operands, "state")[...] = self._early
        super().run(cpu, operands)
