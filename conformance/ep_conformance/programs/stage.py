"""A Stage is where a program is performed: a device's streams and memories by name, beside the model of what they hold."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep.plugin.capabilities import serves_calls

import ep
from ep_conformance.fixture.capacity import fitting
from ep_conformance.fixture.kernel import find_kernel
from ep_conformance.programs.look import Look, MismatchError
from ep_conformance.programs.op import Model
from ep_conformance.programs.order import Span
from ep_conformance.programs.points import DEADLINE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ep_conformance.fixture.trial import Bytes
    from ep_conformance.programs.program import Program

__all__ = ["Bench", "Stage"]

_STALL_SECONDS: Final = 0.05
"""The most seconds that a stream stands still, in case the host waits at an unforeseen place."""

_STALL_BYTES: Final = 1 << 20
_STALL_COPIES: Final = 8
_STALL_MEMORIES: Final = 16
"""Two for each of four streams, and others beside them."""


class Bench:
    """What all programs of a case share: the devices, a kernel with its results, and memory to be busy with.

    devices  : those that a program may use; all streams and memories of most programs are of the first
    """

    def __init__(self, devices: Sequence[ep.Device], unit: int) -> None:
        self.devices = devices
        self.unit = unit
        self.kernel = find_kernel(devices[0])
        self._primitives: dict[int, ep.Primitive] = {}
        self._results: dict[bytes, Bytes] = {}
        self._streams = {device: device.stream() for device in devices}
        self._scratch: dict[str, tuple[ep.Memory, ep.Memory]] = {}

    @property
    def modes(self) -> tuple[bool, ...]:
        """Return the modes of streams that all devices have: False is asynchronous."""
        return tuple(mode for mode in (False, True) if all(_has_mode(device, mode) for device in self.devices))

    def primitive(self, nbytes: int) -> ep.Primitive:
        """Return the kernel over a vector of float32."""
        if nbytes not in self._primitives:
            assert self.kernel is not None
            self._primitives[nbytes] = self.kernel.descriptor(nbytes // 4).on(self.devices[0])
        return self._primitives[nbytes]

    def result(self, x: Bytes) -> Bytes:
        """Return the kernel's result for a vector, alone on the device; other cases judge whether it is right."""
        known = self._results.get(x.tobytes())
        if known is None:
            assert self.kernel is not None
            device = self.devices[0]
            memory, out = self.holding(device, x), device.allocate(x.nbytes)
            self.primitive(x.nbytes)(self._streams[device], **{self.kernel.operand: memory, "out": out})
            known = self._results[x.tobytes()] = self.contents({"out": out})["out"]
            memory.close()
            out.close()
        return known

    def holding(self, device: ep.Device, content: Bytes) -> ep.Memory:
        """Return memory with a content that is there already."""
        memory, stream = device.allocate(content.nbytes), self._streams[device]
        stream.upload(memory, content.copy())
        stream.synchronize()
        return memory

    def contents(self, memories: Mapping[str, ep.Memory]) -> dict[str, Bytes]:
        """Return the contents of memories, with no work under way."""
        found = {name: np.full(memory.nbytes, 0xEE, np.uint8) for name, memory in memories.items()}
        for name, memory in memories.items():
            self._streams[memory.device].download(found[name], memory)
        for stream in self._streams.values():
            stream.synchronize(timeout=DEADLINE_SECONDS)
        return found

    def scratch(self, name: str, device: ep.Device) -> tuple[ep.Memory, ep.Memory]:
        """Return two large memories that a stream of that name may be busy with."""
        if name not in self._scratch:
            nbytes = fitting(device, _STALL_BYTES, _STALL_MEMORIES)
            self._scratch[name] = (device.allocate(nbytes), device.allocate(nbytes))
        return self._scratch[name]

    def close(self) -> None:
        """Give everything back."""
        for pair in self._scratch.values():
            for memory in pair:
                memory.close()
        for stream in self._streams.values():
            stream.close()


def _has_mode(device: ep.Device, mode: bool) -> bool:  # noqa: FBT001 - the value is the question
    try:
        device.stream(synchronous=mode).close()
    except ep.UnsupportedError:
        return False
    return True


class Stage:
    """One performance of one program."""

    def __init__(self, bench: Bench, program: Program) -> None:
        self._bench = bench
        self._program = program
        self.devices = bench.devices
        self.model = Model(bench.result, bench.unit)
        self.operand = "" if bench.kernel is None else bench.kernel.operand
        self.primitive: Callable[[int], ep.Primitive] = bench.primitive
        self.streams: dict[str, ep.Stream] = {}
        self.memories: dict[str, ep.Memory] = {}
        self.events: dict[str, ep.Event] = {}
        self.steps: dict[str, Any] = {}
        self.graphs: dict[str, Any] = {}
        self._hosts: dict[str, Bytes] = {}
        self._open: list[Any] = []
        self._gates: list[threading.Event] = []
        self._sightings: list[tuple[str, Look, Bytes, Bytes]] = []

    def perform(self) -> None:
        """Do the program, then compare every byte of every memory and host buffer that is left."""
        for name in self._program.streams:
            self._begin(name)
        for name, content in self._program.contents():
            self.model.bytes[name] = content.copy()
            if name in self._program.memories:
                self.keep(name, self._bench.holding(self.devices[self._program.memories[name]], content))
            else:
                self._hosts[name] = content
        for op in self._program.ops:
            op.predict(self.model)
            op.perform(self)
        self.open_gates()
        for name, stream in self.streams.items():
            stream.synchronize(timeout=DEADLINE_SECONDS)
            self.look(name)
        for name, buffer in self._hosts.items():
            self._compare_all(name, buffer)
        self._compare_memories()

    def close(self) -> None:
        """Wait for the streams and give everything back; the first error is raised at the end."""
        self.open_gates()
        failure: ep.EpError | None = None
        for thing in (*self.streams.values(), *self.steps.values(), *self.graphs.values(), *self._open):
            try:
                thing.close()
            except ep.EpError as error:
                failure = failure or error
        if failure is not None:
            raise failure

    def close_quietly(self) -> None:
        """Close after an error; further errors are only symptoms of it."""
        with contextlib.suppress(ep.EpError):
            self.close()

    # What ops ask for.

    def memory(self, span: Span) -> ep.Memory:
        """Return the view that a span names."""
        memory = self.memories[span.place]
        if span.view is None:
            return memory[span.start : span.stop]
        low, high = span.view
        return memory[low:high][span.start - low : span.stop - low]

    def host(self, span: Span) -> Bytes:
        """Return a part of a host buffer."""
        return self._hosts[span.place][span.start : span.stop]

    def keep(self, name: str, memory: ep.Memory) -> None:
        """Give a memory its name; it is closed with the stage."""
        self.memories[name] = memory
        self._open.append(memory)

    def renew(self, name: str) -> None:
        """Close a stream, which must have done all of its work then, and make another in its place."""
        self.streams[name].close()
        self.look(name)
        self._begin(name)

    def stall(self, name: str) -> None:
        """Stop a stream until the host waits; where host callbacks are degraded it is busy for a while instead."""
        stream = self.streams[name]
        if stream.is_synchronous:
            return
        if serves_calls(stream):
            gate = threading.Event()
            self._gates.append(gate)
            stream.call(lambda: gate.wait(_STALL_SECONDS) and None)
            return
        one, other = self._bench.scratch(name, stream.device)
        for _ in range(_STALL_COPIES // 2):
            stream.fill(one, b"busy")
            stream.copy(other, one)

    def open_gates(self) -> None:
        """Let all stalled streams go on."""
        for gate in self._gates:
            gate.set()
        self._gates.clear()

    def sighting(self, stream: str, look: Look) -> Bytes:
        """Return a buffer that a callback of a stream fills with the model's present bytes."""
        seen = np.full(look.span.nbytes, 0xEE, np.uint8)
        self._sightings.append((stream, look, seen, self.model[look.span].copy()))
        return seen

    def look(self, stream: str) -> None:
        """Compare the bytes that the callbacks of a finished stream saw."""
        for name, look, seen, needed in self._sightings:
            if name == stream:
                self.compare(f"({look.span} seen by a callback of {stream})", seen, needed, look)
        self._sightings = [sighting for sighting in self._sightings if sighting[0] != stream]

    def compare(self, what: str, given: Bytes, needed: Bytes, look: Look) -> None:
        """Fail at the first byte that differs from the model."""
        wrong = np.flatnonzero(given != needed)
        if wrong.size:
            at = int(wrong[0])
            message = f"{what}[{at}] == {given[at]:#04x}, needed {needed[at]:#04x} ({wrong.size} of {given.size} bytes differ)"  # fmt: skip
            raise MismatchError(message, look, given)

    def _begin(self, name: str) -> None:
        synchronous, device = self._program.streams[name]
        self.streams[name] = self.devices[device].stream(synchronous=synchronous)

    def _compare_memories(self) -> None:
        left = {name: memory for name, memory in self.memories.items() if not memory.is_closed}
        for name, content in self._bench.contents(left).items():
            self._compare_all(name, content)

    def _compare_all(self, name: str, content: Bytes) -> None:
        self.compare(name, content, self.model.bytes[name], Look(Span(name, 0, content.size)))
