"""An OpenCL graph: a kernel object a node with its arguments set once, enqueued one by one or as a command buffer."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyopencl as cl
from ep_simt import PortableKernel

import ep
from ep_opencl.command import Command
from ep_opencl.command_buffer import CommandBuffers
from ep_opencl.errors import failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ep_opencl.command_buffer import EntryPoints
    from ep_opencl.stream import ClStream

    Sides = tuple[tuple[cl.Buffer, int], ...]

__all__ = ["ClGraph", "Transfer", "work_of"]


class Transfer(NamedTuple):
    """A copy (dst, src) or a fill (dst); `sides` are buffers and offsets in bytes, `pattern` is empty for a copy."""

    what: str
    sides: Sides
    nbytes: int
    pattern: bytes

    def enqueue(self, queue: cl.CommandQueue) -> cl.Event:
        """Enqueue it."""
        dst, to = self.sides[0]
        if self.pattern:
            return cl.enqueue_fill_buffer(queue, dst, self.pattern, to, self.nbytes)
        src, come = self.sides[1]
        return cl.enqueue_copy(queue, dst, src, byte_count=self.nbytes, dst_offset=to, src_offset=come)


class _Target(NamedTuple):
    """Two arguments that follow a slot: its buffer, and (start + offset) // itemsize + elements, in elements."""

    command: Command
    argument: int
    offset: int
    itemsize: int
    elements: int


class ClGraph(ep.Executable):
    """Commands in their order. Launches take turns, because they share the kernel objects and their arguments."""

    def __init__(
        self, points: EntryPoints | None, slots: tuple[ep.Slot, ...], work: list[list[Command] | Transfer]
    ) -> None:
        self._turn = threading.RLock()
        self._is_launching = False
        self._slots = slots
        self._work = work
        self._targets = [
            [
                _Target(command, place.argument, offset, place.itemsize, place.offset)
                for node, operand, offset in slot.places
                if isinstance(commands := work[node], list)
                for command in commands
                for place in command.places
                if place.operand == operand
            ]
            for slot in slots
        ]
        self._captured = tuple((slot.memory.handle, slot.memory.offset) for slot in slots)
        self._pointed: Sides = self._captured
        self._unknown: Any = ((None, -1),) * len(slots)
        self._flat = self._flattened(work)
        self._buffers = CommandBuffers(points, [command for _, command in self._flat]) if points is not None else None

    def bind(self, bindings: tuple[ep.Memory | None, ...]) -> Callable[..., Any]:
        if not bindings:
            return self._run_fixed
        if all(memory is None for memory in bindings):
            return self._run_captured
        given = [
            captured if memory is None else (memory.handle, memory.offset)
            for memory, captured in zip(bindings, self._captured, strict=True)
        ]
        work = [*self._work]
        for slot, memory, (handle, start) in zip(self._slots, bindings, given, strict=True):
            for node, operand, offset in slot.places if memory is not None else ():
                transfer = work[node]
                if isinstance(transfer, Transfer):
                    sides = [*transfer.sides]
                    sides[operand] = handle, start + offset
                    work[node] = transfer._replace(sides=tuple(sides))
        flat = self._flattened(work)

        def run(stream: ClStream, _: Any, __: Any) -> None:
            with self._launching():
                self._point(given)
                _enqueue(stream, flat)

        return run

    def _run_fixed(self, stream: ClStream, _: Any, __: Any) -> None:
        """Run what has no slots: no launch sets arguments, so that a handler's may come amid another, command by command."""
        with self._turn:
            is_amid, self._is_launching = self._is_launching, True
            try:
                if is_amid or self._buffers is None or not self._buffers.enqueue(stream):
                    _enqueue(stream, self._flat)
            finally:
                self._is_launching = is_amid

    def _run_captured(self, stream: ClStream, _: Any, __: Any) -> None:
        with self._launching():
            self._point(self._captured)
            if self._buffers is None or not self._buffers.enqueue(stream):
                _enqueue(stream, self._flat)

    def _point(self, given: Any) -> None:
        """Set the arguments of each slot whose memory has changed since the last launch."""
        changed: dict[int, Command] = {}
        # After an error or Ctrl-C half way, the next launch sets all arguments anew.
        pointed, self._pointed = self._pointed, self._unknown
        for place, (handle, start) in enumerate(given):
            at, where = pointed[place]
            if handle is at and start == where:
                continue
            for command, argument, offset, itemsize, elements in self._targets[place]:
                command.arguments[argument] = handle
                command.arguments[argument + 1] = (start + offset) // itemsize + elements
                changed[id(command)] = command
        try:
            # One call of pyopencl for all arguments costs less than one for each that changes.
            for command in changed.values():
                command.kernel.set_args(*command.arguments)
        except cl.Error as error:
            raise failure(error) from error
        self._pointed = given

    @contextmanager
    def _launching(self) -> Iterator[None]:
        """Let one launch at a time set arguments. Raises ValueError for a handler's launch inside another."""
        with self._turn:
            if self._is_launching:
                message = (
                    "graph.launch: this graph is being launched already, and the launch was interrupted by the signal "
                    "handler or finalizer that asks for another; launch it after that, where a flag of the handler is read"
                )
                raise ValueError(message)
            self._is_launching = True
            try:
                yield
            finally:
                self._is_launching = False

    def close(self) -> None:
        with self._turn:
            if self._buffers is not None:
                self._buffers.close()

    @staticmethod
    def _flattened(work: list[list[Command] | Transfer]) -> list[tuple[int, Command | Transfer]]:
        """Return the commands in their order, each with the number of its node."""
        return [
            (node, each) for node, entry in enumerate(work) for each in (entry if isinstance(entry, list) else [entry])
        ]


def work_of(nodes: tuple[ep.Node, ...]) -> list[list[Command] | Transfer] | None:
    """Return the commands of each node, None if some kernel has none to show."""
    work: list[list[Command] | Transfer] = []
    for node in nodes:
        if isinstance(node.what, str):
            sides = tuple((memory.handle, memory.offset) for memory in node.memories)
            work.append(Transfer(node.what, sides, node.memories[0].nbytes, node.scalars[0] if node.scalars else b""))
        elif node.is_empty:
            work.append([])
        elif isinstance(node.what.kernel, PortableKernel):
            commands = node.what.kernel.commands(node.memories, node.scalars)
            work.append([command.function.command(command) for command in commands])
        else:
            return None
    return work


_run: Final = cl.enqueue_nd_range_kernel


def _enqueue(stream: ClStream, work: list[tuple[int, Command | Transfer]]) -> None:
    queue, placed = stream.queue, []
    try:
        for node, command in work:
            if isinstance(command, Command):
                what, kernel, size, group, _, _ = command
                placed.append((_run(queue, kernel, size, group), node, what))
            else:
                placed.append((command.enqueue(queue), node, command.what))
    except cl.Error as error:
        raise failure(error) from error
    finally:
        stream.placed_all(placed)
