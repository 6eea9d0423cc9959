"""Saboteurs whose results are wrong, in a small way and only sometimes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from ep_primitives import layout

import ep
from ep_conformance.saboteurs.implementations import HonestKernel
from ep_conformance.saboteurs.provider import HonestProvider

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_conformance.saboteurs.device import Handle

__all__ = [
    "ArrayKernel",
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

Array = npt.NDArray[Any]


class ArrayKernel(HonestKernel):
    """A kernel whose operands can be looked at as arrays."""

    def array(self, operands: Mapping[str, Any], name: str) -> Array:
        """Return an operand as an array that shares the CPU's bytes."""
        spec = self.descriptor.specs[self.descriptor.operands.index(name)]
        assert isinstance(spec, ep.TensorSpec)
        return layout.view(spec, np.frombuffer(operands[name].host(), np.uint8))

    def remade(self, descriptor: ep.Descriptor, specs: tuple[Any, ...], attributes: tuple[float, ...]) -> ep.Descriptor:
        """Return the descriptor with other specs and attributes, which nobody validates."""
        restore, (kind, op, *_) = descriptor.__reduce__()
        remade: ep.Descriptor = restore(kind, op, specs, attributes)
        return remade


class _SkipsTheLastElement(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        out = self.array(operands, "out")
        place = (-1,) * out.ndim
        before = out[place].copy()
        super().run(cpu, operands)
        if out.ndim and out.size % 16 == 1:
            out[place] = before


class SkipsTheLastElement(HonestProvider):
    """Leave the last element out, where a vector loop has one element left over."""

    kernel_type: ClassVar[type[HonestKernel]] = _SkipsTheLastElement


class _LosesNan(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.descriptor.op != "max" or isinstance(self.descriptor.specs[0], ep.Scalar):
            super().run(cpu, operands)
            return
        a = np.array(self.array(operands, "a"))
        super().run(cpu, operands)
        out = self.array(operands, "out")
        if out.dtype.kind == "f":
            out[...] = np.where(np.isnan(out), a, out)


class LosesNan(HonestProvider):
    """Let max(a, NaN) be a, as C's fmax does."""

    kernel_type: ClassVar[type[HonestKernel]] = _LosesNan


class _LosesTheSignOfZero(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        if self.descriptor.op == "negative":
            self.array(operands, "out")[...] += 0


class LosesTheSignOfZero(HonestProvider):
    """Negate by subtracting from zero, so that -(+0) is +0."""

    kernel_type: ClassVar[type[HonestKernel]] = _LosesTheSignOfZero


class _IgnoresAttributes(ArrayKernel):
    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        return self.remade(descriptor, descriptor.specs, (1.0,) * len(descriptor.attributes))


class IgnoresAttributes(HonestProvider):
    """Compute every elu with alpha 1."""

    kernel_type: ClassVar[type[HonestKernel]] = _IgnoresAttributes


class _DropsViewOffsets(HonestKernel):
    def operand(self, memory: ep.Memory) -> ep.Memory:
        handle: Handle = memory.handle
        return handle.bytes_at(0, memory.nbytes)


class DropsViewOffsets(HonestProvider):
    """Give kernels the start of the allocation in place of the start of the view."""

    kernel_type: ClassVar[type[HonestKernel]] = _DropsViewOffsets


class _IgnoresNegativeStrides(ArrayKernel):
    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        specs = tuple(_forwards(spec) for spec in descriptor.specs[:-1])
        return self.remade(descriptor, (*specs, descriptor.out), descriptor.attributes)


def _forwards(spec: ep.TensorSpec | ep.Scalar) -> ep.TensorSpec | ep.Scalar:
    if isinstance(spec, ep.Scalar) or min(spec.strides, default=0) >= 0 or not spec.size:
        return spec
    return ep.TensorSpec(spec.dtype, spec.shape, tuple(map(abs, spec.strides)), spec.lo)


class IgnoresNegativeStrides(HonestProvider):
    """Walk an input that lies backwards forwards, from its lowest element."""

    kernel_type: ClassVar[type[HonestKernel]] = _IgnoresNegativeStrides


class _SpoilsInPlace(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        first = operands[self.descriptor.operands[0]]
        if len(operands) > 2 and isinstance(first, ep.Memory):  # noqa: PLR2004 - two inputs and an output
            self.array(operands, "out")[...] = np.zeros((), self.array(operands, "out").dtype)
        super().run(cpu, operands)


class SpoilsInPlace(HonestProvider):
    """Clear the output of a binary op before its inputs are read."""

    kernel_type: ClassVar[type[HonestKernel]] = _SpoilsInPlace


class _EndsWithItsGrid(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        out = self.array(operands, "out")
        before = out.reshape(-1)[_GRID:].copy() if out.size > _GRID else None
        super().run(cpu, operands)
        if before is not None:
            out.reshape(-1)[_GRID:] = before


class EndsWithItsGrid(HonestProvider):
    """Compute as many elements as a grid of 65,535 groups of 32 has."""

    kernel_type: ClassVar[type[HonestKernel]] = _EndsWithItsGrid


class _WalksOutputsForwards(ArrayKernel):
    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        out = _forwards(descriptor.out)
        return self.remade(descriptor, (*descriptor.specs[:-1], out), descriptor.attributes)


class WalksOutputsForwards(HonestProvider):
    """Walk an output that lies backwards forwards, from its lowest element."""

    kernel_type: ClassVar[type[HonestKernel]] = _WalksOutputsForwards


class _KeepsTheFirstOperands(ArrayKernel):
    _first: tuple[ep.Memory, ...] | None = None

    def launch(self, stream: ep.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if self.descriptor.family == "cast":
            if self._first is None or any(memory.is_closed for memory in self._first):
                self._first = memories
            memories = self._first
        super().launch(stream, memories, scalars)


class KeepsTheFirstOperands(HonestProvider):
    """Let the second launch of a cast work on the memories of the first."""

    kernel_type: ClassVar[type[HonestKernel]] = _KeepsTheFirstOperands


class _ScalarsThroughFloat32(ArrayKernel):
    def launch(self, stream: ep.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if self.descriptor.out.dtype == "int32":
            scalars = tuple(int(np.float32(scalar)) for scalar in scalars)
        super().launch(stream, memories, scalars)


class ScalarsThroughFloat32(HonestProvider):
    """Give integer scalars to kernels as float32, which holds 24 bits of them."""

    kernel_type: ClassVar[type[HonestKernel]] = _ScalarsThroughFloat32


class _RoundsExpRoughly(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        out = self.array(operands, "out")
        if self.descriptor.op == "exp" and out.dtype == np.float32:
            with np.errstate(over="ignore"):
                out *= np.float32(1 + 2**-20)


class RoundsExpRoughly(HonestProvider):
    """Let exp in float32 be about eight units in the last place too large."""

    kernel_type: ClassVar[type[HonestKernel]] = _RoundsExpRoughly
