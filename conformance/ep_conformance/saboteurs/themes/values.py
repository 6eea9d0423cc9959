"""Saboteurs whose results are wrong, in a small way and only sometimes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_conformance.saboteurs.implementations import HonestKernel
from ep_conformance.saboteurs.kernel import ArrayKernel
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_conformance.saboteurs.device import Handle

__all__ = [
    "DropsViewOffsets",
    "EndsWithItsGrid",
    "IgnoresAttributes",
    "IgnoresNegativeStrides",
    "KeepsTheFirstOperands",
    "LosesNan",
    "LosesTheSignOfZero",
    "RoundsExpRoughly",
    "ScalarsThroughFloat32",
    "SkipsTheLastElement",
    "SpoilsInPlace",
    "WalksOutputsForwards",
]

_GRID: Final = 65_535 * 32


@killed_by("primitives/elementwise_unary/relu/float32/dense/size-17")
class SkipsTheLastElement(ArrayKernel):
    """Leave the last element out, where a vector loop has one element left over."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        out = self.array(operands, "out")
        place = (-1,) * out.ndim
        before = out[place].copy()
        super().run(cpu, operands)
        if out.ndim and out.size % 16 == 1:
            out[place] = before


@killed_by("primitives/broadcast_binary/max/float32/dense/special-values")
class LosesNan(ArrayKernel):
    """Let max(a, NaN) be a, as C's fmax does."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.descriptor.op != "max" or isinstance(self.descriptor.specs[0], ep.Scalar):
            super().run(cpu, operands)
            return
        a = np.array(self.array(operands, "a"))
        super().run(cpu, operands)
        out = self.array(operands, "out")
        if out.dtype.kind == "f":
            out[...] = np.where(np.isnan(out), a, out)


@killed_by("primitives/elementwise_unary/negative/float32/dense/special-values")
class LosesTheSignOfZero(ArrayKernel):
    """Negate by subtracting from zero, so that -(+0) is +0."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        if self.descriptor.op == "negative":
            self.array(operands, "out")[...] += 0


@killed_by("primitives/elementwise_unary/elu/float32/dense/designed-alpha-3")
class IgnoresAttributes(ArrayKernel):
    """Compute every elu with alpha 1."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        return self.remade(descriptor, descriptor.specs, (1.0,) * len(descriptor.attributes))


@killed_by("primitives/copy/-/float32/offset/shifted")
class DropsViewOffsets(HonestKernel):
    """Give kernels the start of the allocation in place of the start of the view."""

    def operand(self, memory: ep.Memory) -> ep.Memory:
        handle: Handle = memory.handle
        return handle.bytes_at(0, memory.nbytes)


@killed_by("primitives/copy/-/int32/strided/negative-strides")
class IgnoresNegativeStrides(ArrayKernel):
    """Walk an input that lies backwards forwards, from its lowest element."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        specs = tuple(_forwards(spec) for spec in descriptor.specs[:-1])
        return self.remade(descriptor, (*specs, descriptor.out), descriptor.attributes)


def _forwards(spec: ep.TensorSpec | ep.Scalar) -> ep.TensorSpec | ep.Scalar:
    if not isinstance(spec, ep.TensorSpec) or min(spec.strides, default=0) >= 0 or not spec.size:
        return spec
    return ep.TensorSpec(spec.dtype, spec.shape, tuple(map(abs, spec.strides)), spec.lo)


@killed_by("primitives/broadcast_binary/add/float32/inplace/a")
class SpoilsInPlace(ArrayKernel):
    """Clear the output of a binary op before its inputs are read."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        first = operands[self.descriptor.operands[0]]
        if len(operands) > 2 and isinstance(first, ep.Memory):  # noqa: PLR2004 - two inputs and an output
            self.array(operands, "out")[...] = np.zeros((), self.array(operands, "out").dtype)
        super().run(cpu, operands)


@killed_by("runtime/primitive/large-launches-reach-the-end")
class EndsWithItsGrid(ArrayKernel):
    """Compute as many elements as a grid of 65,535 groups of 32 has."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        out = self.array(operands, "out")
        before = out.reshape(-1)[_GRID:].copy() if out.size > _GRID else None
        super().run(cpu, operands)
        if before is not None:
            out.reshape(-1)[_GRID:] = before


@killed_by("primitives/elementwise_unary/abs/int32/strided/every-third")
class WalksOutputsForwards(ArrayKernel):
    """Walk an output that lies backwards forwards, from its lowest element."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        out = _forwards(descriptor.out)
        return self.remade(descriptor, (*descriptor.specs[:-1], out), descriptor.attributes)


@killed_by("primitives/cast/-/float32->int32/dense/size-17")
class KeepsTheFirstOperands(ArrayKernel):
    """Let the second launch of a cast work on the memories of the first."""

    _first: tuple[ep.Memory, ...] | None = None

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if self.descriptor.family == "cast":
            if self._first is None or any(memory.is_closed for memory in self._first):
                self._first = memories
            memories = self._first
        super().launch(stream, memories, scalars)


@killed_by("primitives/broadcast_binary/sub/int32/scalar-right/scalar-16777217")
class ScalarsThroughFloat32(ArrayKernel):
    """Give integer scalars to kernels as float32, which holds 24 bits of them."""

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if self.descriptor.out.dtype == "int32":
            scalars = tuple(int(np.float32(scalar)) for scalar in scalars)
        super().launch(stream, memories, scalars)


@killed_by("primitives/elementwise_unary/exp/float32/dense/designed")
class RoundsExpRoughly(ArrayKernel):
    """Let exp in float32 be about eight units in the last place too large."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        out = self.array(operands, "out")
        if self.descriptor.op == "exp" and out.dtype == np.float32:
            with np.errstate(over="ignore"):
                out *= np.float32(1 + 2**-20)
