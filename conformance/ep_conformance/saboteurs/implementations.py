"""The honest kernels: primitives of the CPU's device, run by the stream's worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep.plugin.capabilities import served

import ep
from ep_conformance.saboteurs.stream import HonestStream, bytes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EVERY", "Delegated", "HonestKernel"]


EVERY: Final = ("*",)


class HonestKernel(ep.Kernel):
    """A descriptor whose primitive the CPU has. Saboteurs override `described`, `operand` or `run`.

    owns : families that the provider has rows for although the CPU has none, because they lower to others; or EVERY
    """

    owns: ClassVar[tuple[str, ...]] = ()

    def __init__(self, descriptor: ep.Descriptor, cpu: ep.Device) -> None:
        self.descriptor = self.described(descriptor)
        self.primitive = self.descriptor.on(cpu)

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        """Return the descriptor that the CPU gets."""
        return descriptor

    def operand(self, memory: ep.Memory) -> ep.Memory:
        """Return the CPU's memory for an operand."""
        return bytes_of(memory)

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        """Compute, in the worker's thread; when it returns, the result is there."""
        self.primitive(cpu, **operands)

    def launch(self, stream: Any, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        assert isinstance(stream, HonestStream)
        named = self.descriptor.named(memories, scalars)
        if self.scratch_nbytes:
            named["scratch"] = memories[-1]
        operands = {name: self.operand(its) if type(its) is ep.Memory else its for name, its in named.items()}
        cpu = stream.cpu
        stream.enqueue(stream.work(lambda: self.run(cpu, operands), "kernel"))


class Delegated(ep.Implementation):
    """Whatever the CPU accepts."""

    def __init__(self, cpu: ep.Device, kernel_type: type[HonestKernel]) -> None:
        self._cpu = cpu
        self._kernel_type = kernel_type

    def accepts(self, descriptor: ep.Descriptor, info: ep.DeviceInfo) -> bool:
        del info
        reasons: list[str] = []
        if served(self._cpu, descriptor, reasons) != "none":
            return True
        raise ep.UnsupportedError("; ".join(reasons))

    def create(self, descriptor: ep.Descriptor, device: ep.spi.Device, code: Any) -> ep.Kernel:
        del device, code
        return self._kernel_type(descriptor, self._cpu)
