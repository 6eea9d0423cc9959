"""Planted defects of launches: state that a kernel keeps for the next launch or another kernel, and rare faults."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import ep
from ep_conformance.saboteurs.kernel import Array, ArrayKernel
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__: list[str] = []

_RARE: Final = 1000
_LINE: Final = 64


@killed_by("primitives/fill/-/float32/dense/size-17")
class BakesTheFirstNumber(ArrayKernel):
    """Compile the first launch's numbers into the kernel, for all launches."""

    _baked: tuple[Any, ...] | None = None

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if self._baked is None:
            self._baked = scalars
        super().launch(stream, memories, self._baked)


@killed_by("primitives/matmul/-/float32/dense/64x64x64")
class KeepsWhatItPacked(ArrayKernel):
    """Pack b for the first launch, and take it for that of the others."""

    _packed: Array | None = None

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.descriptor.family == "matmul" and self.descriptor.out.size:
            b = self.array(operands, "b")
            given = b.copy()
            if self._packed is None:
                self._packed = given
            b[...] = self._packed
            super().run(cpu, operands)
            b[...] = given
            return
        super().run(cpu, operands)


@killed_by("primitives/reduce/sum/float32/dense/rows")
class AddsToTheLastLaunch(ArrayKernel):
    """Leave the partial sums of the first launch in the workspace, and add the second's to them."""

    _partial: Array | None = None

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        if self.descriptor.cell.startswith("reduce/sum/float32/"):
            out = self.array(operands, "out")
            if self._partial is not None:
                with np.errstate(all="ignore"):
                    out += self._partial
            self._partial = out.copy()


@killed_by("runtime/launch/attributes-are-the-descriptors-own")
class BakesTheFirstAttributes(ArrayKernel):
    """Compile the attributes of the first descriptor into the program that all of its key share."""

    _baked: ClassVar[dict[tuple[str, str], tuple[float, ...]]] = {}

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        if descriptor.family not in {"elementwise_unary", "broadcast_binary"}:
            return descriptor
        baked = self._baked.setdefault((descriptor.op, descriptor.out.dtype), descriptor.attributes)
        return self.remade(descriptor, descriptor.specs, baked)


@killed_by("runtime/launch/strides-are-the-descriptors-own")
class KnowsGeometriesByShape(ArrayKernel):
    """Look the strides of an input up by its shape, and find those of the first that had it."""

    _known: ClassVar[dict[tuple[str, tuple[int, ...]], ep.TensorSpec]] = {}

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        x = descriptor.specs[0]
        if descriptor.family != "copy" or not isinstance(x, ep.TensorSpec) or x.ndim < 2:  # noqa: PLR2004 - strides matter
            return descriptor
        known = self._known.setdefault((x.dtype, x.shape), x)
        return self.remade(descriptor, (known if known.hi <= x.hi else x, *descriptor.specs[1:]), descriptor.attributes)


@killed_by("runtime/launch/thousands-give-the-same-bits")
class FailsOnceInAThousand(ArrayKernel):
    """Leave the last element as it was, in one launch of a thousand."""

    _launches = 0

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        self._launches += 1
        if self._launches % _RARE or not self.descriptor.out.size:
            super().run(cpu, operands)
            return
        out = self.array(operands, self.descriptor.operands[-1])
        place = (-1,) * out.ndim
        before = out[place].copy()
        super().run(cpu, operands)
        out[place] = before


@killed_by("runtime/primitive/is-shared-by-streams")
class SharesScratch(ArrayKernel):
    """Keep one copy of the input for the launches of all streams, made when a launch is enqueued."""

    _scratch: Array | None = None

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        self._scratch = None
        super().launch(stream, memories, scalars)

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of = self.descriptor
        if of.family == "elementwise_unary" and of.out.size:
            if self._scratch is None:
                self._scratch = self.array(operands, "x").copy()
            self.array(operands, "x")[...] = self._scratch
        super().run(cpu, operands)


@killed_by("runtime/launch/inputs-may-share-a-memory")
class TakesOneMemoryForOneTensor(ArrayKernel):
    """Take operands in one allocation for one and the same."""

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        *inputs, out = memories
        if len(inputs) > 1 and inputs[0].handle is inputs[1].handle and inputs[0].nbytes == inputs[1].nbytes:
            inputs[1] = inputs[0]
        super().launch(stream, (*inputs, out), scalars)


@killed_by("runtime/launch/rows-may-lie-4-gib-apart")
class CountsBytesIn32Bits(ArrayKernel):
    """Compute the places of elements in 32 bits, in bytes."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        specs = tuple(_wrapped(spec) for spec in descriptor.specs)
        return self.remade(descriptor, specs, descriptor.attributes)


def _wrapped(spec: ep.TensorSpec | ep.Scalar) -> ep.TensorSpec | ep.Scalar:
    if not isinstance(spec, ep.TensorSpec) or spec.nbytes < 2**32:
        return spec
    most = 2**32 // spec.itemsize
    return ep.TensorSpec(spec.dtype, spec.shape, tuple(stride % most for stride in spec.strides), spec.offset % most)


@killed_by("primitives/reduce/sum/float64/dense/length-17")
class ReadsPastTheEnd(ArrayKernel):
    """Read the row's end in whole vectors, and multiply what lies behind it by 0."""

    def operand(self, memory: ep.Memory) -> ep.Memory:
        more = min(memory.nbytes + 8, memory.handle.nbytes - memory.offset)
        found: ep.Memory = memory.handle.bytes_at(memory.offset, more)
        return found

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        x = self.descriptor.specs[0]
        if self.descriptor.cell == "reduce/sum/float64/dense" and isinstance(x, ep.TensorSpec):
            behind = np.frombuffer(operands["x"].host(), np.uint8)[x.nbytes :][:8]
            if behind.size and x.size % 4:
                with np.errstate(all="ignore"):
                    self.array(operands, "out").reshape(-1)[-1:] += behind.view(np.float64) * 0


@killed_by("runtime/launch/neighbours-in-one-memory-do-not-meet")
class WritesWholeLines(ArrayKernel):
    """Write the line that an output ends in as a whole, with what it held before the launch behind its end."""

    def operand(self, memory: ep.Memory) -> ep.Memory:
        more = min(memory.nbytes + _LINE, memory.handle.nbytes - memory.offset)
        found: ep.Memory = memory.handle.bytes_at(memory.offset, more)
        return found

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        out = self.descriptor.out
        behind = np.frombuffer(operands["out"].host(), np.uint8)[out.nbytes :]
        before = behind.copy()
        time.sleep(0.0005)
        super().run(cpu, operands)
        behind[...] = before


@killed_by("runtime/launch/streams-of-every-kind-compute")
class LaunchesOnTimedStreamsAlone(ArrayKernel):
    """Do no launch on a stream that takes no times."""

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if stream.is_timed:
            super().launch(stream, memories, scalars)


@killed_by("runtime/launch/memories-of-every-kind-are-operands")
class KeepsOffSharedMemory(ArrayKernel):
    """Do no launch with an operand in memory that the host shares."""

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if not any(memory.kind is ep.MemoryKind.SHARED for memory in memories):
            super().launch(stream, memories, scalars)


@killed_by("runtime/launch/devices-compute-in-turn")
class CompilesForTheFirstDevice(ArrayKernel):
    """Load programs into the first device that asks for one; on others their launches do nothing."""

    _device: ClassVar[dict[Any, ep.Device]] = {}

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if self._device.setdefault(self.descriptor.key, stream.ledger.device) is stream.ledger.device:
            super().launch(stream, memories, scalars)


@killed_by("primitives/fill/-/float32/dense/size-17")
class MakesItsRowsAnew(HonestProvider):
    """Show other implementations whenever it is asked, so that nothing attests which of them ran."""

    @property
    def implementations(self) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
        self._table = None
        return super().implementations
