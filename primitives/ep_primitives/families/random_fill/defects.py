"""Planted defects of RandomFill: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.themes.random import RandomKernel

import ep

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__: list[str] = []


@killed_by("primitives/random_fill/integers/uint32/dense/three-quarters")
class TakesRemaindersOfWords(Defect):
    """Draw integers as low + W mod n, not by the high half of W n."""

    meets = "random_fill/integers/uint32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        low, high = given["low"], given["high"]
        span = high - low + 1
        fraction = (out.astype(np.float64) - low) / span
        out[...] = (low + (fraction * 2**32).astype(np.uint64) % np.uint64(span)).astype(np.uint32)


@killed_by("primitives/random_fill/integers/int32/dense/dice")
class LeavesOutTheHighest(Defect):
    """Take the range for half open."""

    meets = "random_fill/integers/int32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[(out == given["high"]) & (given["high"] > given["low"])] -= 1


@killed_by("primitives/random_fill/uniform/float32/dense/size-65537")
class RoundsUpToOne(Defect):
    """Convert words with a rounding, to even numbers and, once in a while, to 1."""

    meets = "random_fill/uniform/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        bits = (out.astype(np.float64) * 2**24).astype(np.int64)
        out[...] = ((bits + (bits & 1)) * 2.0**-24).astype(np.float32)


@killed_by("primitives/random_fill/words/uint32/dense/beyond-2-34")
class CountsBlocksIn32Bits(ArrayKernel):
    """Number the blocks of four words in 32 bits, so that the sequence begins again after 2^34 words."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if not self.descriptor.cell.startswith("random_fill/words/"):
            super().run(cpu, operands)
            return
        state, out = self.array(operands, "state"), self.array(operands, "out").reshape(-1)
        first = int(state[1])
        super().run(cpu, operands)
        after, before = state[1], out[: max(2**34 - first, 0)].copy()
        if before.size < out.size:
            state[1] = (first - 2**34) % 2**64
            super().run(cpu, operands)
            out[: before.size] = before
            state[1] = after


@killed_by("primitives/random_fill/words/uint32/dense/known-answer-std-philox4x32")
class SwapsHalvesOfTheSeed(ArrayKernel):
    """Take the high half of the seed for the low one."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.descriptor.family != "random_fill":
            super().run(cpu, operands)
            return
        state = self.array(operands, "state")
        seed = int(state[0])
        state[0] = seed >> 32 | (seed & 0xFFFFFFFF) << 32
        super().run(cpu, operands)
        state[0] = seed


@killed_by("primitives/random_fill/bernoulli/bool/dense/p-at-a-word")
class TakesEqualWordsToo(Defect):
    """Compare with <= p, rounded to a word, where < is meant."""

    meets = "random_fill/bernoulli/bool/*"

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        return descriptor

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.is_met():
            operands = {**operands, "p": min(operands["p"] + 2.0**-32, 1.0)}
        ArrayKernel.run(self, cpu, operands)


@killed_by("primitives/random_fill/normal/float32/dense/size-1048579")
class CutsTailsOff(Defect):
    """Draw no normal number beyond 4."""

    meets = "random_fill/normal/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        np.clip(out, -4, 4, out=out)


@killed_by("primitives/random_fill/uniform/float64/dense/size-17")
class TakesTheHighWordFirst(Defect):
    """Take the first of an element's two words for the high half."""

    meets = "random_fill/uniform/float64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        bits = (out * 2.0**53).astype(np.uint64) << np.uint64(11)
        out[...] = ((bits >> np.uint64(32) | bits << np.uint64(32)) >> np.uint64(11)).astype(np.float64) * 2.0**-53


@killed_by("primitives/random_fill/uniform/float64/dense/size-17")
class CountsElements(RandomKernel):
    """Advance a generator by one word an element, also where an element takes two."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        before = int(self.array(operands, "state")[1]) if self.is_random else None
        super().run(cpu, operands)
        if before is not None:
            self.array(operands, "state")[1] = (before + self.descriptor.out.size) % 2**64


@killed_by("primitives/random_fill/words/uint32/dense/at-word-1")
class BeginsWithABlock(RandomKernel):
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
class NumbersByMemory(RandomKernel):
    """Number the elements of an output by where they lie, not by their indices."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        out = descriptor.out
        if descriptor.family != "random_fill" or min(out.strides, default=0) < 0:
            return descriptor
        axes = sorted(range(out.ndim), key=lambda axis: -out.strides[axis])
        shape, strides = tuple(out.shape[axis] for axis in axes), tuple(out.strides[axis] for axis in axes)
        sorted_ = ep.TensorSpec(out.dtype, shape, strides, out.offset)
        return self.remade(descriptor, (*descriptor.specs[:-1], sorted_), descriptor.attributes)
