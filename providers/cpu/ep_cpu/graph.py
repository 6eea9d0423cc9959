"""A CPU graph: one array of commands over one arena of packed blocks, run by one native call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ep
from ep_cpu.command import Command, CommandKernel, address_of
from ep_cpu.native import check

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ep_cpu.native import Native

    Launch = Callable[[ep.spi.Stream, tuple[ep.Memory, ...], tuple[Any, ...]], Any]

__all__ = ["CommandList", "commands_of"]

_ALIGNMENT: Final = 16


class CommandList(ep.Executable):
    """Commands that share an arena. A run with other memories patches their addresses in a copy of its own."""

    def __init__(
        self, native: Native, nodes: tuple[ep.Node, ...], slots: tuple[ep.Slot, ...], commands: Sequence[Command | None]
    ) -> None:
        ffi = native.ffi
        places: dict[int, list[int]] = {}
        entries, blocks = [], bytearray()
        for node, command in enumerate(commands):
            if command is not None:
                entries.append((ffi.addressof(native.lib, command.entry), len(blocks)))
                places[node] = [len(blocks) + place for place in command.places]
                blocks += bytes(ffi.buffer(command.block))
                blocks += bytes(-len(blocks) % _ALIGNMENT)
        patches = [
            (places[node][operand], place, offset)
            for place, slot in enumerate(slots)
            for node, operand, offset in slot.places
            if node in places
        ]
        arrays = ffi.new("ep_command[]", entries), ffi.new("char[]", bytes(blocks)), ffi.new("ep_patch[]", patches)
        array, arena, replaced = arrays
        self._list = ffi.new("ep_list *", (array, len(entries), arena, len(blocks), replaced, len(patches)))
        self._kept = arrays, [command.kept for command in commands if command is not None]
        self._native = native
        self._nodes = [(place, str(node.what)) for place, node in enumerate(nodes) if place in places]

    def bind(self, bindings: tuple[ep.Memory | None, ...]) -> Launch:
        enter, commands, fail, ffi = self._native.lib.ep_run, self._list, self._fail, self._native.ffi
        addresses = ffi.NULL
        if any(memory is not None for memory in bindings):
            addresses = ffi.new("intptr_t[]", [address_of(self._native, memory) for memory in bindings])

        # `fail` keeps this object alive, and with it the objects that `commands` points to.
        def run(stream: ep.spi.Stream, _: Any, __: Any) -> None:
            if code := enter(commands, addresses):
                fail(stream.ledger, code)

        return run

    def _fail(self, ledger: ep.spi.Ledger, code: int) -> None:
        place, status = divmod(code, 1 << 32)
        try:
            check(status, "ep_run" if place >= 0 else "ep_run at its arguments")
        except ep.DeviceError as error:
            if place >= 0:
                ledger.ticket().of(*self._nodes[place]).blame(error)
            raise


def commands_of(native: Native, nodes: tuple[ep.Node, ...], slots: tuple[ep.Slot, ...]) -> list[Command | None] | None:
    """Return a command for each node, None for one with nothing to do; None in all if some kernel has no commands."""
    commands: list[Command | None] = []
    replaced: dict[int, set[int]] = {}
    for place in [place for slot in slots for place in slot.places]:
        replaced.setdefault(place.node, set()).add(place.operand)
    for number, node in enumerate(nodes):
        if isinstance(node.what, str):
            commands.append(_bytes_command(native, node))
        elif node.is_empty:
            commands.append(None)
        elif isinstance(node.what.kernel, CommandKernel):
            own = frozenset(replaced.get(number, ()))
            commands.append(node.what.kernel.command(node.memories, node.scalars, own))
        else:
            return None
    return commands


def _bytes_command(native: Native, node: ep.Node) -> Command:
    ffi = native.ffi
    addresses = [memory.handle + memory.offset for memory in node.memories]
    if node.what == "fill":
        (pattern,) = node.scalars
        packed = ffi.new("ep_fill_packed *", (addresses[0], node.memories[0].nbytes, len(pattern), pattern))
        places = (ffi.offsetof("ep_fill_packed", "dst"),)
        return Command(native, "fill", "ep_fill_bytes", packed, places, None)
    packed = ffi.new("ep_copy_packed *", (*addresses, node.memories[0].nbytes))
    places = tuple([ffi.offsetof("ep_copy_packed", name) for name in ("dst", "src")])
    return Command(native, "copy", "ep_copy_bytes", packed, places, None)
