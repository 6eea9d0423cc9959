"""Kernels by plan: a family describes its work in a native struct, and one launch function serves all such kernels."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_cpu.command import NO_PLACES, Command, CommandKernel, address_of, pack
from ep_cpu.native import check, open_native
from ep_cpu.numbers import NO_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ep_cpu.native import Native, Row
    from ep_cpu.numbers import Numbers

    Launch = Callable[[ep.spi.Stream, tuple[ep.Memory, ...], tuple[Any, ...]], Any]

__all__ = ["Plan", "PlanKernel", "Planned", "Tabled"]

_SOME: Final = 6
"""The tensors that `ep_enter6` takes."""


class Plan(NamedTuple):
    """A family's native description of the work of one descriptor.

    struct  : the native type, of which a row is the first field
    fields  : its other fields
    numbers : packs the numbers of a launch; None: it has none
    scratch : returns the bytes of scratch that the native plan needs; its memory comes last. None: it needs none
    keep    : returns the native plan of a step or a node, and what that refers to, where memories may be frozen; None in the
              place of each memory that other runs replace. None: it is the same plan
    """

    struct: str
    fields: Mapping[str, Any]
    numbers: Numbers | None = None
    scratch: Callable[[Any], int] | None = None
    keep: Callable[[Native, Any, Sequence[ep.Memory | None]], tuple[Any, Any]] | None = None


class Tabled(ep.Implementation):
    """The work of one row of the native table."""

    def row(self, descriptor: Any) -> Row:
        """Return a descriptor's row name: family, op, the first operand's dtype and the last one's."""
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
    """An implementation by plan: a family writes `plan`, and `row` if the default one does not fit."""

    @abstractmethod
    def plan(self, descriptor: Any, native: Native) -> Plan:
        """Return the native struct, its fields and the packing of a descriptor's launches."""

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> Native:
        del key, device
        return open_native()

    def create(self, descriptor: Any, device: ep.spi.Device, code: Native) -> ep.Kernel:
        del device
        present = [spec is not None for _, spec in descriptor.tensors]
        return PlanKernel(code, self.row(descriptor), self.plan(descriptor, code), present)


class PlanKernel(CommandKernel):
    """A native plan and its launch, a function whose closure holds all that it uses, so that it looks nothing up.

    Memories are packed in the order of the operands; a plan whose native order differs has a field `place`. `present`
    is False for each optional operand that is missing.
    """

    __slots__ = ("_keep", "_kept", "_name", "_native", "_numbers", "_plan", "launch", "scratch_nbytes")

    launch: Launch  # type: ignore[assignment]  # a slot in place of the method, as in LoopKernel

    def __init__(self, native: Native, row: Row, plan: Plan, present: Sequence[bool]) -> None:
        self._plan = native.ffi.new(f"{plan.struct} *", {"row": native.rows[row], **plan.fields})
        self._kept = plan.fields  # what the plan points to, alone or in a sequence, lives as long
        self._native = native
        self._keep = plan.keep
        self._name = row[0]
        self._numbers = plan.numbers
        self.scratch_nbytes = 0 if plan.scratch is None else plan.scratch(self._plan)
        self.launch = self._launcher([*present, *([] if plan.scratch is None else [True])])

    def command(
        self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...], replaced: frozenset[int] = NO_PLACES
    ) -> Command:
        numbers = b"" if self._numbers is None else self._numbers(scalars)
        addresses = [address_of(self._native, memory) for memory in memories]
        plan, kept = self._plan, None
        if self._keep is not None and any(memory is not None and memory.is_frozen for memory in memories):
            lasting = [None if place in replaced else memory for place, memory in enumerate(memories)]
            plan, kept = self._keep(self._native, plan, lasting)
        packed, places = pack(self._native, plan, addresses, numbers)
        return Command(self._native, self._name, "ep_enter", packed, places, (plan, kept, self._kept))

    def _launcher(self, present: Sequence[bool]) -> Launch:
        """Return the launch of these memories: the fastest that takes them."""
        native, plan, name, numbers, count = self._native, self._plan, self._name, self._numbers, len(present)
        if all(present) and count == 2:  # noqa: PLR2004 - as the functions are called
            return _two(native, plan, name) if numbers is None else _two_with_numbers(native, plan, name, numbers)
        if all(present) and count == 3 and numbers is None:  # noqa: PLR2004 - as above
            return _three(native, plan, name)
        if count <= _SOME:
            return _some(native, plan, name, numbers or _no_numbers, count)
        assert numbers is None, f"{name}: {count} memories leave no room for numbers"
        return _all(native, plan, name)


def _no_numbers(_: tuple[Any, ...]) -> bytes:
    return NO_NUMBERS


# In the launches `or null`: an operand without elements may stand in a memory without bytes, which has no handle.


def _two(native: Native, plan: Any, name: str) -> Launch:
    enter, null = native.lib.ep_enter2, native.ffi.NULL

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory, ...], __: Any) -> None:
        a, b = memories
        if status := enter(plan, a.handle or null, a.offset, b.handle or null, b.offset):
            check(status, name)

    return launch


def _two_with_numbers(native: Native, plan: Any, name: str, numbers: Numbers) -> Launch:
    enter, null = native.lib.ep_enter6, native.ffi.NULL
    rest = (null, 0) * (_SOME - 2)

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        a, b = memories
        if status := enter(plan, 2, numbers(scalars), a.handle or null, a.offset, b.handle or null, b.offset, *rest):
            check(status, name)

    return launch


def _three(native: Native, plan: Any, name: str) -> Launch:
    enter, null = native.lib.ep_enter3, native.ffi.NULL

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory, ...], __: Any) -> None:
        a, b, c = memories
        if status := enter(plan, a.handle or null, a.offset, b.handle or null, b.offset, c.handle or null, c.offset):
            check(status, name)

    return launch


def _some(native: Native, plan: Any, name: str, numbers: Numbers, count: int) -> Launch:
    enter, null = native.lib.ep_enter6, native.ffi.NULL
    rest = (null, 0) * (_SOME - count)

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory | None, ...], scalars: tuple[Any, ...]) -> None:
        at: list[Any] = []
        for memory in memories:
            at += (null, 0) if memory is None else (memory.handle or null, memory.offset)
        if status := enter(plan, count, numbers(scalars), *at, *rest):
            check(status, name)

    return launch


def _all(native: Native, plan: Any, name: str) -> Launch:
    enter, null = native.lib.ep_enter_all, native.ffi.NULL

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory | None, ...], __: Any) -> None:
        tensors = [null if memory is None else memory.handle or null for memory in memories]
        at = [0 if memory is None else memory.offset for memory in memories]
        if status := enter(plan, len(memories), tensors, at):
            check(status, name)

    return launch
