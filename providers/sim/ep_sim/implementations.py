"""Simulated devices run every descriptor that the CPU's device accepts: it runs it over shadow addresses."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ep.work.implementation import choose

import ep
from ep_sim.stream import SimStream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_sim.lane import Lane
    from ep_sim.memory import Allocation

__all__ = ["OverShadow", "implementations_over"]


class OverShadow(ep.Implementation):
    """The CPU's kernel of the same descriptor, when the stream gets there."""

    def accepts(self, descriptor: ep.Descriptor, info: ep.DeviceInfo) -> bool:
        del info
        cpu, reasons = ep.device("cpu:0"), list[str]()
        if choose(cpu.provider.implementations.get(type(descriptor), ()), descriptor, cpu.info, reasons) is None:
            message = "the CPU's device refuses it"
            raise ep.UnsupportedError(message, reasons)
        return True

    def create(self, descriptor: ep.Descriptor, device: ep.spi.Device, code: Any) -> ep.Kernel:
        del device, code
        return ShadowKernel(descriptor)


class Operand(NamedTuple):
    """A memory as a task keeps it: the handle and the bytes, but nothing that would keep them from being freed."""

    allocation: Allocation | None
    offset: int
    nbytes: int

    def on(self, cpu: ep.Device) -> ep.Memory:
        """Return the CPU's memory for it."""
        if self.allocation is None:
            return cpu.allocate(0)
        assert self.allocation.memory is not None
        return self.allocation.memory[self.offset : self.offset + self.nbytes]


class ShadowKernel(ep.Kernel):
    """A descriptor whose primitive belongs to the CPU's device."""

    def __init__(self, descriptor: ep.Descriptor) -> None:
        self._op = descriptor.title
        self._named = descriptor.named
        cpu = ep.device("cpu:0")
        self._primitive = descriptor.on(cpu)
        self._alignment = cpu.info.alignment
        # Where scratch begins, simulated devices care less about than the CPU's does.
        self.scratch_nbytes = self._primitive.scratch_nbytes and self._primitive.scratch_nbytes + self._alignment

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        assert isinstance(stream, SimStream)
        named = self._named(memories, scalars)
        tensors = {name: Operand(m.handle, m.offset, m.nbytes) for name, m in named.items() if type(m) is ep.Memory}
        numbers = {name: its for name, its in named.items() if name not in tensors}
        if self.scratch_nbytes:
            scratch = memories[-1]  # a step's is closed for all others: nobody gets a view of it
            begin = scratch.offset + -scratch.offset % self._alignment
            tensors["scratch"] = Operand(scratch.handle, begin, self._primitive.scratch_nbytes)
        touched = tuple(operand.allocation.whole for operand in tensors.values() if operand.allocation is not None)
        stream.enqueue(self._op, partial(self._run, tensors, numbers), touched, kind="launch")

    def _run(self, tensors: dict[str, Operand], numbers: dict[str, Any], lane: Lane) -> None:
        memories = {name: operand.on(lane.cpu) for name, operand in tensors.items()}
        self._primitive(lane.stream, **memories, **numbers)


def implementations_over(cpu: ep.Device) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
    """Return the table: a row for each of the CPU's."""
    return {kind: (OverShadow(),) for kind in cpu.provider.implementations}
