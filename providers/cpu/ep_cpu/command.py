"""Commands: launches as entries of the native module, which a bound step runs one by one and a graph as a list."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import ep
from ep_cpu.native import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_cpu.native import Native

    Launch = Callable[[ep.spi.Stream, tuple[ep.Memory, ...], tuple[Any, ...]], Any]

__all__ = ["NO_PLACES", "Command", "CommandKernel", "address_of", "pack"]

NO_PLACES: Final[frozenset[int]] = frozenset()


class Command(NamedTuple):
    """A native entry and its argument, a packed block.

    native  : the module
    name    : the name in errors
    entry   : the name of an `int (*)(const void *packed)`
    block   : cffi's pointer to the packed block
    places  : for each memory, in order, the byte of the block at which its address stands
    kept    : objects that the block points to
    """

    native: Native
    name: str
    entry: str
    block: Any
    places: tuple[int, ...]
    kept: Any


class CommandKernel(ep.Kernel):
    """A kernel whose launches can be packed: from `command` it has bound steps and graphs."""

    @abstractmethod
    def command(
        self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...], replaced: frozenset[int] = NO_PLACES
    ) -> Command:
        """Return a launch with these operands, packed.

        replaced : places of memories in whose stead some runs have others
        """

    def bind(self, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> Launch:
        command = self.command(memories, scalars)
        name, block = command.name, command.block
        enter = getattr(command.native.lib, command.entry)

        # The default argument keeps the objects alive that the block points to.
        def run(_: ep.spi.Stream, __: Any, ___: Any, _kept: Command = command) -> None:
            if status := enter(block):
                check(status, name)

        return run


def address_of(native: Native, memory: ep.Memory | None) -> int:
    """Return where a memory begins, 0 for an absent one, and for one without bytes, which has no handle."""
    if memory is None or memory.handle is None:
        return 0
    begin: int = int(native.ffi.cast("intptr_t", memory.handle))
    return begin + memory.offset


def pack(native: Native, plan: Any, addresses: list[int], numbers: bytes) -> tuple[Any, tuple[int, ...]]:
    """Return the packed block of a launch, and the byte at which each address stands."""
    ffi, count = native.ffi, len(addresses)
    words = -(-len(numbers) // ffi.sizeof("intptr_t"))
    packed = ffi.new("ep_packed *", {"plan": plan, "at": [*addresses, *[0] * words]})
    ffi.memmove(packed.at + count, numbers, len(numbers))
    return packed, tuple([ffi.offsetof("ep_packed", "at", place) for place in range(count)])
