"""Launches of elementwise kernels: one function a way in, which finds everything without looking it up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_cpu.command import NO_PLACES, Command, CommandKernel, address_of, pack
from ep_cpu.native import check
from ep_cpu.numbers import number_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    import ep
    from ep_cpu.native import Native

    Launch = Callable[[ep.spi.Stream, tuple[ep.Memory, ...], tuple[Any, ...]], Any]

__all__ = ["Loop", "LoopKernel"]

_NOT_DOUBLES: Final = {"int64", "uint64", "complex64", "complex128"}


class Loop(NamedTuple):
    """The properties that all descriptors of one kernel key share.

    row          : the native row
    itemsizes    : of the operands
    scalar       : the operand that is a number given at launch, -1 if none is
    number       : dtype in which the kernel gets that number
    number_type  : the same as the native module numbers it
    kind         : cffi's type of pointers to a geometry
    dense        : the geometry of dense operands, but for size, traffic, offsets and attributes
    """

    native: Native
    row: Any
    itemsizes: tuple[int, ...]
    scalar: int
    number: str
    number_type: int
    kind: Any
    dense: Any


class LoopKernel(CommandKernel):
    """A geometry and the launch over it, which is a function of its own: it finds everything without looking it up."""

    __slots__ = ("_geometry", "_loop", "launch")

    launch: Launch  # type: ignore[assignment]  # a slot in place of the method: 25 ns a launch

    def __init__(self, loop: Loop, geometry: Any) -> None:
        self._loop = loop
        self._geometry = geometry
        self.launch = launcher_of(loop)(loop, geometry)

    def command(
        self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...], replaced: frozenset[int] = NO_PLACES
    ) -> Command:
        del replaced
        geometry, native = self._geometry, self._loop.native
        number = number_bytes(self._loop.number, scalars[0]) if scalars else b""
        addresses = [address_of(native, memory) for memory in memories]
        packed, places = pack(native, geometry, addresses, number)
        return Command(native, "elementwise", "ep_elementwise", packed, places, geometry)


def launcher_of(loop: Loop) -> Callable[[Loop, Any], Launch]:
    """Return the function that makes the launch of a loop over a geometry."""
    with_number = _NUMBER_LAUNCHES if loop.number in _NOT_DOUBLES else _SCALAR_LAUNCHES
    return (_LAUNCHES if loop.scalar < 0 else with_number)[len(loop.itemsizes)]


def unary(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from x to out."""
    enter = loop.native.lib.ep_launch2

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory, ...], __: Any) -> None:
        x, out = memories
        if status := enter(geometry, x.handle, x.offset, out.handle, out.offset):
            check(status, "ep_launch2")

    return launch


def binary(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from a and b to out."""
    enter = loop.native.lib.ep_launch3

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory, ...], __: Any) -> None:
        a, b, out = memories
        if status := enter(geometry, a.handle, a.offset, b.handle, b.offset, out.handle, out.offset):
            check(status, "ep_launch3")

    return launch


def select(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from a condition, a and b to out."""
    enter = loop.native.lib.ep_launch4

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory, ...], __: Any) -> None:
        condition, a, b, out = memories
        if status := enter(
            geometry,
            condition.handle,
            condition.offset,
            a.handle,
            a.offset,
            b.handle,
            b.offset,
            out.handle,
            out.offset,
        ):
            check(status, "ep_launch4")

    return launch


def scalar_fill(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from a number that a double holds to out."""
    enter = loop.native.lib.ep_launch2_scalar

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        (out,) = memories
        if status := enter(geometry, scalars[0], out.handle, out.offset):
            check(status, "ep_launch2_scalar")

    return launch


def scalar_binary(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from a number that a double holds and a tensor, on whichever sides, to out."""
    enter = loop.native.lib.ep_launch3_scalar

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        other, out = memories
        if status := enter(geometry, scalars[0], other.handle, other.offset, out.handle, out.offset):
            check(status, "ep_launch3_scalar")

    return launch


def number_fill(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from any number to out."""
    enter, dtype = loop.native.lib.ep_launch2_number, loop.number

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        (out,) = memories
        if status := enter(geometry, number_bytes(dtype, scalars[0]), out.handle, out.offset):
            check(status, "ep_launch2_number")

    return launch


def number_binary(loop: Loop, geometry: Any) -> Launch:
    """Return the launch from any number and a tensor, on whichever sides, to out."""
    enter, dtype = loop.native.lib.ep_launch3_number, loop.number

    def launch(_: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        other, out = memories
        number = number_bytes(dtype, scalars[0])
        if status := enter(geometry, number, other.handle, other.offset, out.handle, out.offset):
            check(status, "ep_launch3_number")

    return launch


# By the number of operands.
_LAUNCHES: Final = {2: unary, 3: binary, 4: select}
_SCALAR_LAUNCHES: Final = {2: scalar_fill, 3: scalar_binary}
_NUMBER_LAUNCHES: Final = {2: number_fill, 3: number_binary}
