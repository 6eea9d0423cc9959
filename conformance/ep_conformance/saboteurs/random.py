"""Saboteurs of random fills: states that are not what the stream made of them, words that go to the wrong elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import ep
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.stream import bytes_of
from ep_conformance.saboteurs.values import ArrayKernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_conformance.saboteurs.implementations import HonestKernel

__all__ = ["BeginsWithABlock", "CountsElements", "DrawsTheSameAgain", "NumbersByMemory", "ReadsTheStateEarly"]


class _RandomKernel(ArrayKernel):
    """A kernel that treats random fills in its own way, and all others as the honest one does."""

    @property
    def is_random(self) -> bool:
        return self.descriptor.family == "random_fill"


class _DrawsTheSameAgain(_RandomKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        before = self.array(operands, "state").copy() if self.is_random else None
        super().run(cpu, operands)
        if before is not None:
            self.array(operands, "state")[...] = before


class DrawsTheSameAgain(HonestProvider):
    """Leave the state of a generator as it was."""

    kernel_type: ClassVar[type[HonestKernel]] = _DrawsTheSameAgain


class _CountsElements(_RandomKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        before = int(self.array(operands, "state")[1]) if self.is_random else None
        super().run(cpu, operands)
        if before is not None:
            self.array(operands, "state")[1] = (before + self.descriptor.out.size) % 2**64


class CountsElements(HonestProvider):
    """Advance a generator by one word an element, also where an element takes two."""

    kernel_type: ClassVar[type[HonestKernel]] = _CountsElements


class _BeginsWithABlock(_RandomKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if not self.is_random:
            super().run(cpu, operands)
            return
        state = self.array(operands, "state")
        skipped = state[1] % np.uint64(4)
        state[1] -= skipped
        super().run(cpu, operands)
        state[1] += skipped


class BeginsWithABlock(HonestProvider):
    """Begin every launch with the first word of a block of four."""

    kernel_type: ClassVar[type[HonestKernel]] = _BeginsWithABlock


class _NumbersByMemory(_RandomKernel):
    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        out = descriptor.out
        if descriptor.family != "random_fill" or min(out.strides, default=0) < 0:
            return descriptor
        axes = sorted(range(out.ndim), key=lambda axis: -out.strides[axis])
        shape, strides = tuple(out.shape[axis] for axis in axes), tuple(out.strides[axis] for axis in axes)
        sorted_ = ep.TensorSpec(out.dtype, shape, strides, out.offset)
        return self.remade(descriptor, (*descriptor.specs[:-1], sorted_), descriptor.attributes)


class NumbersByMemory(HonestProvider):
    """Number the elements of an output by where they lie, not by their indices."""

    kernel_type: ClassVar[type[HonestKernel]] = _NumbersByMemory


class _ReadsTheStateEarly(_RandomKernel):
    def launch(self, stream: ep.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if self.is_random:
            self._early = np.frombuffer(bytes_of(memories[0]).host(), np.uint64).copy()
        super().launch(stream, memories, scalars)

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.is_random:
            self.array(operands, "state")[...] = self._early
        super().run(cpu, operands)


class ReadsTheStateEarly(HonestProvider):
    """Read the state of a generator when a launch is enqueued, not when the stream gets there."""

    kernel_type: ClassVar[type[HonestKernel]] = _ReadsTheStateEarly
