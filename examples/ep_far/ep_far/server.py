"""The device itself: a process that keeps memory, does the work of queues, and answers its socket alone.

A frame from the host is [verb, ...]. Of verbs that go into a queue the second entry is the queue and the third the serial
number that the host gave the work. Frames to the host:

[done, queue, serial, nanoseconds]          the queue got past it, done or failed
[failed, queue, serial, node, reason]       comes before its `done`; node is null outside of graphs
[pull, queue, serial]                       the queue got to an upload that came without bytes: [pushed, queue, serial] + bytes
[push, queue, serial] + bytes               the queue got to a download
[call, queue, serial]                       the queue got to a host function: [called, queue, serial]
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ep_far import wire

Array = npt.NDArray[Any]

_PLACE = 3  # a handle, an offset and a number of bytes

_ORDER = frozenset({"record", "wait", "resume"})

_OPS: dict[str, Any] = {
    "copy": lambda x: x,
    "negative": np.negative,
    "abs": np.abs,
    "relu": lambda x: np.where(x <= 0, np.float32(0), x),
    "add": np.add,
    "mul": np.multiply,
}


class WorkError(Exception):
    """Work that failed; `node` is the one of the graph that did, None outside of graphs."""

    def __init__(self, reason: str, node: int | None = None) -> None:
        super().__init__(reason)
        self.node = node


class Command:
    """One piece of work: [verb, *arguments], without its queue and serial. `is_doomed`: it fails on request."""

    def __init__(self, verb: str, arguments: list[Any], *, is_doomed: bool = False) -> None:
        self.verb = verb
        self.arguments = arguments
        self.is_doomed = is_doomed

    def require_luck(self) -> None:
        """Raise a failure if one was requested."""
        if self.is_doomed:
            message = f"the {self.verb} failed, as was asked for"
            raise WorkError(message)


class Queue:
    """Work in order, and the thread that does it."""

    def __init__(self, server: Server, number: int) -> None:
        self.server = server
        self.number = number
        self.work: queue.SimpleQueue[tuple[int, Command] | None] = queue.SimpleQueue()
        self.bytes: queue.SimpleQueue[Any] = queue.SimpleQueue()  # the host's answers to `pull` and `call`
        self.has_failed = False
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while (next_one := self.work.get()) is not None:
            serial, command = next_one
            if command.verb in _ORDER or not self.has_failed:
                self._try(serial, command)
            self.server.send("done", self.number, serial, time.perf_counter_ns())

    def _try(self, serial: int, command: Command) -> None:
        try:
            self._do(serial, command)
        except Exception as error:  # noqa: BLE001 - any error is reported to the host
            self.has_failed = True
            node = error.node if isinstance(error, WorkError) else None
            self.server.send("failed", self.number, serial, node, str(error) or type(error).__name__)

    def _do(self, serial: int, command: Command) -> None:
        command.require_luck()
        server, arguments = self.server, command.arguments
        match command.verb:
            case "record":
                arguments[0].set()
            case "wait":
                arguments[0].wait()
            case "resume":
                self.has_failed = False
            case "upload":
                *place, body = arguments if len(arguments) > _PLACE else (*arguments, None)
                if body is None:
                    server.send("pull", self.number, serial)
                    body = self.bytes.get()
                server.bytes_of(*place)[:] = body
            case "download":
                server.send("push", self.number, serial, body=server.bytes_of(*arguments))
            case "call":
                server.send("call", self.number, serial)
                self.bytes.get()
            case "graph":
                _run_nodes(server, arguments)
            case _:
                _run_alone(server, command)


def _run_nodes(server: Server, commands: list[Command | None]) -> None:
    for node, command in enumerate(commands):
        if command is None:
            continue
        try:
            command.require_luck()
            _run_alone(server, command)
        except Exception as error:
            raise WorkError(str(error), node) from error


def _run_alone(server: Server, command: Command) -> None:
    """Do a command that takes operands alone: [handle, offset in bytes, more ...] each."""
    match command.verb, command.arguments:
        case "copy", [nbytes, (dst, to), (src, come)]:
            server.bytes_of(dst, to, nbytes)[:] = server.bytes_of(src, come, nbytes)
        case "fill", [nbytes, pattern, (dst, to)]:
            unit = np.frombuffer(bytes.fromhex(pattern), np.uint8)
            server.array_of(dst, to, nbytes).reshape(-1, unit.size)[:] = unit
        case "kernel", [op, dtype, shape, *operands]:
            *given, out = (server.tensor_of(dtype, shape, *operand) for operand in operands)
            with np.errstate(all="ignore"):
                out[...] = _OPS[op](*given)
        case verb, arguments:
            message = f"{verb}{arguments} is no work of this device"
            raise WorkError(message)


class Server:
    """Memory by handle, queues, events and graphs by number."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._outbox: queue.SimpleQueue[tuple[tuple[Any, ...], Any]] = queue.SimpleQueue()
        self._memory: dict[int, Array] = {}
        self._queues: dict[int, Queue] = {}
        self._events: dict[int, threading.Event] = {}
        self._graphs: dict[int, tuple[list[Any], list[Any]]] = {}
        self._faults = {"kernel": 0, "copy": 0}

    def send(self, *head: Any, body: Any = b"") -> None:
        """Send a frame to the host; its bytes are read at once."""
        self._outbox.put((head, bytes(body)))

    def array_of(self, handle: int, offset: int, nbytes: int) -> Array:
        """Return bytes of an allocation."""
        return self._memory[handle][offset : offset + nbytes]

    def bytes_of(self, handle: int, offset: int, nbytes: int) -> memoryview:
        """Return bytes of an allocation as a buffer."""
        return memoryview(self.array_of(handle, offset, nbytes))  # type: ignore[arg-type]  # an array is a buffer

    def tensor_of(  # noqa: PLR0913, PLR0917 - an operand as it comes over the wire
        self, dtype: str, shape: list[int], handle: int, offset: int, begin: int, strides: list[int]
    ) -> Array:
        """Return a tensor, `begin` bytes into its memory, which lies `offset` bytes into an allocation."""
        return np.ndarray(shape, dtype, self._memory[handle], offset + begin, strides)

    def run(self) -> None:
        """Answer frames until the host is gone."""
        threading.Thread(target=self._write, daemon=True).start()
        while (head := wire.receive(self._end, self._place)) is not None:
            self._answer(*head)

    def _write(self) -> None:
        while True:
            wire.send(self._end, *self._outbox.get())

    def _place(self, head: list[Any], nbytes: int) -> memoryview:
        head.append(bytearray(nbytes))
        return memoryview(head[-1])

    def _answer(self, verb: str, *arguments: Any) -> None:  # noqa: C901 - one line a verb
        match verb, arguments:
            case "allocate", (handle, nbytes):
                self._memory[handle] = np.zeros(nbytes, np.uint8)
            case "free", (handle,):
                del self._memory[handle]
            case "queue", (number,):
                self._queues[number] = Queue(self, number)
            case "close", (number,):
                self._queues.pop(number).work.put(None)
            case "forget", (number,):
                self._events.pop(number, None)
            case "define", (number, commands, places):
                self._graphs[number] = commands, places
            case "drop", (number,):
                self._graphs.pop(number, None)
            case "inject", (kind, nth):
                self._faults[kind] = nth
            case (("pushed" | "called"), (number, _, *body)):
                self._queues[number].bytes.put(*body or [None])
            case _, (number, serial, *rest):
                self._queues[number].work.put((serial, self._command(verb, rest)))

    def _command(self, verb: str, arguments: list[Any]) -> Command:
        """Return work for a queue, its numbers looked up now: they may be forgotten before the queue gets there."""
        match verb, arguments:
            case "record", [number]:
                event = self._events[number] = threading.Event()
                return Command(verb, [event])
            case "wait", [number]:
                return Command(verb, [self._events[number]])
            case "graph", [number, given]:
                return Command(verb, self._bound(number, given))
        return self._counted(verb, arguments)

    def _bound(self, number: int, given: list[Any]) -> list[Any]:
        """Return the commands of a graph for one launch, with the memories given in the place of its slots'."""
        commands, places = self._graphs[number]
        bound = [None if entry is None else (entry[0], [*entry[1]]) for entry in commands]
        for slot, memory in zip(places, given, strict=True):
            for node, operand, offset in slot if memory is not None else ():
                _, arguments = bound[node]
                arguments[operand] = [memory[0], memory[1] + offset, *arguments[operand][2:]]
        return [None if entry is None else self._counted(*entry) for entry in bound]

    def _counted(self, verb: str, arguments: list[Any]) -> Command:
        kind = "copy" if verb in {"upload", "download"} else verb
        is_doomed = self._faults.get(kind) == 1
        if self._faults.get(kind):
            self._faults[kind] -= 1
        return Command(verb, arguments, is_doomed=is_doomed)


def serve(descriptor: int) -> None:
    """Serve the host at the other end of a socket until it is gone."""
    Server(socket.socket(fileno=descriptor)).run()
