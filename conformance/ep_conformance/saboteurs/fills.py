"""Planted defects of Fill, Iota and RandomFill: numbers on their way to the device, ends of ranges, counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_primitives import Iota

from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


@killed_by("primitives/fill/-/float32/dense/value-negative-zero")
class ClearsForAnyZero(Defect):
    """Clear the bytes where the number equals 0, -0 too."""

    meets = "fill/-/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["value"] == 0:
            out[...] = 0


@killed_by("primitives/fill/-/int32/dense/value-bytes")
class FillsWithOneByte(Defect):
    """Fill with the lowest byte of the number, as memset does."""

    meets = "fill/-/int32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.int32((given["value"] & 127) * 0x01010101)


@killed_by("primitives/fill/-/float64/dense/value-third")
class FillsThroughFloat32(Defect):
    """Hand numbers of float64 over as float32."""

    meets = "fill/-/float64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.float32(given["value"])


@killed_by("primitives/fill/-/uint64/dense/value-high")
class FillsThroughInt64(Defect):
    """Hand numbers of uint64 over as int64, at most 2^63 - 1."""

    meets = "fill/-/uint64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = min(given["value"], 2**63 - 1)


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


@killed_by("primitives/iota/-/float32/dense/tenths")
class AddsStepsUp(Defect):
    """Make each element of the one before it, so that roundings add up."""

    meets = "iota/-/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        assert isinstance(self.descriptor, Iota)
        moved = np.moveaxis(out, self.descriptor.axis, -1) if out.ndim else out.reshape(1)
        steps = np.full(moved.shape, np.float32(given["step"]))
        steps[..., 0] = np.float32(given["start"])
        moved[...] = np.add.accumulate(steps, axis=-1)


@killed_by("primitives/iota/-/int32/dense/rank-4-axis-0")
class CountsThroughTheTensor(Defect):
    """Count elements in their order, whatever the axis."""

    meets = "iota/-/int32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        places = np.arange(out.size, dtype=np.int32).reshape(out.shape)
        out[...] = np.int32(given["start"]) + places * np.int32(given["step"])


@killed_by("primitives/iota/-/int64/dense/bytes")
class CountsInFloat64(Defect):
    """Multiply integers of 64 bits as float64, which holds 53 of them."""

    meets = "iota/-/int64/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        assert isinstance(self.descriptor, Iota)
        shape = [-1 if place == self.descriptor.axis else 1 for place in range(out.ndim)]
        products = np.arange(self.descriptor.extent) * float(given["step"])
        is_inside = np.abs(products) < 2.0**62
        exact = np.arange(self.descriptor.extent) * np.int64(given["step"])
        out[...] = (np.int64(given["start"]) + np.where(is_inside, products, exact).astype(np.int64)).reshape(shape)


@killed_by("primitives/iota/-/uint8/dense/wraps")
class StopsAtTheLargest(Defect):
    """Let a sum that is too large for the type be its largest number, where it wraps."""

    meets = "iota/-/uint8/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        assert isinstance(self.descriptor, Iota)
        shape = [-1 if place == self.descriptor.axis else 1 for place in range(out.ndim)]
        sums = given["start"] + np.arange(self.descriptor.extent, dtype=np.int64) * given["step"]
        out[...] = np.clip(sums, 0, 255).reshape(shape).astype(np.uint8)
