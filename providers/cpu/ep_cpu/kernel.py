"""Kernels by plan: what a family says of a descriptor, and the one way in which all but elementwise ones are launched."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import ep
from ep_cpu.command import Command, CommandKernel
from ep_cpu.native import check, open_native
from ep_cpu.numbers import NO_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ep_cpu.native import Native, Row
    from ep_cpu.numbers import Numbers

    Launch = Callable[[ep.spi.Stream, tuple[ep.Memory, ...], tuple[Any, ...]], Any]

__all__ = ["Plan", "PlanKernel", "Planned", "Tabled"]


class Plan(NamedTuple):
    """What a family says of a descriptor.

    struct  : the native type, of which a row is the first field
    fields  : its other fields
    places  : for each memory, in order, its native place; address 0 stands at the others. None: in native order
    numbers : what packs the numbers of a launch; None: it has none
    scratch : what says how many bytes of scratch the native plan needs, whose memory comes last; None: it needs none
    """

    struct: str
    fields: Mapping[str, Any]
    places: tuple[int, ...] | None = None
    numbers: Numbers | None = None
    scratch: Callable[[Any], int] | None = None


class Tabled(ep.Implementation):
    """What one row of the native table does."""

    def row(self, descriptor: Any) -> Row:
        """Return the name of a descriptor's row: one that takes elements of the first operand and gives those of the last."""
        first, *_, last = [spec.dtype for spec in descriptor.specs if spec is not None]
        return descriptor.family, descriptor.op, first, last

    def accepts(self, descriptor: Any, info: ep.DeviceInfo) -> bool:
        del info
        row = self.row(descriptor)
        if row not in open_native().rows:
            family, op, given, made = row
            message = f"{family}/{op}: no kernel from {given} to {made}; kernels are rows of native/families"
            raise ep.UnsupportedError(message)
        return True


class Planned(Tabled):
    """What is launched by plan: the plan is all that a family says, or the row's name too."""

    @abstractmethod
    def plan(self, descriptor: Any, native: Native) -> Plan:
        """Return what a descriptor's launches are made of."""

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: Any, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        return PlanKernel(code, self.row(descriptor), self.plan(descriptor, code))


class PlanKernel(CommandKernel):
    """A native plan and the launch of it, which is a function of its own: it finds everything without looking it up."""

    __slots__ = ("_kept", "_native", "_numbers", "_places", "launch", "name", "plan", "scratch_nbytes")

    launch: Launch  # type: ignore[assignment]  # a slot in place of the method, as in LoopKernel

    def __init__(self, native: Native, row: Row, plan: Plan) -> None:
        self.plan = native.ffi.new(f"{plan.struct} *", {"row": native.rows[row], **plan.fields})
        self.name = row[0]
        self.scratch_nbytes = 0 if plan.scratch is None else plan.scratch(self.plan)
        self._kept = [value for value in plan.fields.values() if isinstance(value, native.ffi.CData)]
        self._native = native
        self._numbers = plan.numbers
        self._places = plan.places
        if plan.places is None:
            self.launch = _in_order(native, self.plan, self.name, plan.numbers)
        else:
            self.launch = _at_places(native, self.plan, self.name, plan.numbers, plan.places)

    def command(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Command:
        ffi = self._native.ffi
        places = range(len(memories)) if self._places is None else self._places
        packed = ffi.new("ep_packed *", {"plan": self.plan, "at": _placed(memories, places)})
        if self._numbers is not None:
            ffi.memmove(packed.number, self._numbers(scalars), len(NO_NUMBERS))
        offsets = tuple([ffi.offsetof("ep_packed", "at", place) for place in places])
        return Command(self._native, self.name, self.plan.row.enter, packed, offsets, (self.plan, self._kept))


def _placed(memories: tuple[ep.Memory | None, ...], places: Sequence[int]) -> list[int]:
    """Return the address at each native place.

    An operand may be absent, and one without elements stand in a memory without bytes, which has no handle.
    """
    at = [0] * (max(places) + 1)
    for place, memory in zip(places, memories, strict=True):
        if memory is not None:
            at[place] = (memory.handle or 0) + memory.offset
    return at


def _in_order(native: Native, plan: Any, name: str, numbers: Numbers | None) -> Launch:
    """Return the launch of a plan whose memories are in native order."""
    enter = native.lib.ep_launch

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory | None, ...], scalars: tuple[Any, ...]) -> None:
        at = [0 if memory is None else (memory.handle or 0) + memory.offset for memory in memories]
        if status := enter(plan, len(at), at, NO_NUMBERS if numbers is None else numbers(scalars)):
            check(status, name)

    return launch


def _at_places(native: Native, plan: Any, name: str, numbers: Numbers | None, places: Sequence[int]) -> Launch:
    """Return the launch of a plan whose memories have places of their own."""
    enter = native.lib.ep_launch

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory | None, ...], scalars: tuple[Any, ...]) -> None:
        at = _placed(memories, places)
        if status := enter(plan, len(at), at, NO_NUMBERS if numbers is None else numbers(scalars)):
            check(status, name)

    return launch
