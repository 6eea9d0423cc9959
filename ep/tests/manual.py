"""A provider for tests whose work is done only when the test says so, with descriptors of its own."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path
from typing import Any

from ep.plugin.manifest import Manifest

import ep


class Negate(ep.Descriptor):
    """out = -x, bytewise on int8; `lowered` makes it lower to another value of itself."""

    family = "negate"
    roles = ep.Roles(ep.Role.input("x", shares=("out",)), ep.Role.output("out"))
    __slots__ = ("lowers_to",)

    def __init__(self, *, x: ep.TensorSpec, out: ep.TensorSpec, op: str = "-", lowers_to: Negate | None = None) -> None:
        object.__setattr__(self, "lowers_to", lowers_to)
        self._freeze(op, (x, out))

    def lower(self) -> tuple[ep.Stage, ...]:
        return (ep.Stage(self.lowers_to),) if self.lowers_to else ()


class Scale(ep.Descriptor):
    """out = factor * x on int32."""

    family = "scale"
    roles = ep.Roles(ep.Role.number("factor"), ep.Role.input("x"), ep.Role.output("out"))
    __slots__ = ()

    def __init__(self, *, x: ep.TensorSpec, out: ep.TensorSpec) -> None:
        self._freeze("-", (ep.Scalar("int32"), x, out))


class Add(ep.Descriptor):
    """out = a + b bytewise, for operands of any dtypes; either may be in place."""

    family = "add"
    roles = ep.Roles(ep.Role.input("a", shares=("out",)), ep.Role.input("b", shares=("out",)), ep.Role.output("out"))
    __slots__ = ()

    def __init__(self, *, a: ep.TensorSpec, b: ep.TensorSpec, out: ep.TensorSpec) -> None:
        self._freeze("-", (a, b, out))


def provider_over(twin: ep.spi.Provider) -> ep.Provider:
    """Return EP's half of a provider, as the registry makes it."""
    return ep.Provider(twin, Manifest("manual", "Test", (0, 2), fork_safe=True, path=Path("provider.toml")))


class ManualProvider(ep.spi.Provider):
    def __init__(self, count: int = 1, reason: str = "") -> None:
        self.count = count
        self.reason = reason
        self.probes = 0
        self.table: dict[type[ep.Descriptor], tuple[ep.Implementation, ...]] = {}

    @property
    def implementations(self) -> dict[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
        return self.table

    def probe(self) -> None:
        self.probes += 1
        if self.reason:
            raise ep.UnavailableError(self.reason)

    def devices(self) -> list[ManualDevice]:
        return [ManualDevice(ep.DeviceInfo("Manual", "Test", alignment=1)) for _ in range(self.count)]


class ManualDevice(ep.spi.Device):
    def __init__(self, info: ep.DeviceInfo) -> None:
        super().__init__(info)
        self.freed: list[Any] = []
        self.limit = 1 << 40
        self.in_use = 0
        self.stream_type: type[ep.spi.Stream] = ManualStream

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> bytearray:
        if self.in_use + nbytes > self.limit:
            raise ep.OutOfMemoryError("full", requested=nbytes, free=self.limit - self.in_use)
        self.in_use += nbytes
        return bytearray(nbytes)

    def free(self, handle: bytearray, kind: ep.MemoryKind) -> None:
        self.in_use -= len(handle)
        self.freed.append(handle)

    def stream(self, ledger: ep.spi.Ledger, *, priority: int, timed: bool, synchronous: bool | None) -> ep.spi.Stream:
        if synchronous:
            raise ep.UnsupportedError("asynchronous only")
        return self.stream_type(ledger, is_synchronous=False, is_timed=timed)


class ManualStream(ep.spi.Stream):
    """Work waits in `queue`; `advance()` does it. Events count what was enqueued before them."""

    def __init__(self, ledger: ep.spi.Ledger, *, is_synchronous: bool, is_timed: bool) -> None:
        super().__init__(ledger, is_synchronous=is_synchronous, is_timed=is_timed)
        self.queue: list[Any] = []
        self.done = 0
        self.enqueued = 0
        self.events = 0
        self.closed = False

    def enqueue(self, work: Any) -> None:
        self.queue.append(work)
        self.enqueued += 1

    def advance(self, count: int | None = None) -> None:
        for _ in range(len(self.queue) if count is None else count):
            self.queue.pop(0)()
            self.done += 1

    def copy(self, dst: Any, src: Any, nbytes: int) -> None:
        def work() -> None:
            _content(dst)[:nbytes] = _content(src)[:nbytes]

        self.enqueue(work)

    def synchronize(self) -> None:
        self.advance()

    def record(self, *, timed: bool) -> ep.spi.Event:
        self.events += 1
        return ManualEvent(self)

    def close(self) -> None:
        self.closed = True


class HostDevice(ManualDevice):
    """Reaches host memory, and shows the host its own."""

    def wrap_host(self, address: int, nbytes: int) -> Any:
        return (ctypes.c_ubyte * nbytes).from_address(address)

    def host(self, handle: Any, nbytes: int) -> memoryview:
        return memoryview(handle).cast("B")

    def dlpack_device(self) -> tuple[int, int]:
        return (1, 0)

    def address(self, handle: Any) -> int:
        return ctypes.addressof((ctypes.c_ubyte * 0).from_buffer(handle))


class DLPackDevice(ManualDevice):
    """Says that its memory, which the host does not reach, is of a DLPack device type; wraps addresses and queues."""

    def __init__(self, info: ep.DeviceInfo, kind: int = 2, *, is_opaque: bool = False) -> None:
        super().__init__(info)
        self.kind = kind
        self.is_opaque = is_opaque
        self.stream_type = WaitingStream
        self.queues: dict[Any, WaitingStream] = {}

    def dlpack_device(self) -> tuple[int, int]:
        return (self.kind, self.index)

    def address(self, handle: Any) -> int:
        return ctypes.addressof((ctypes.c_ubyte * 0).from_buffer(handle))

    def wrap_memory(self, handle: Any, nbytes: int) -> Any:
        return (ctypes.c_ubyte * nbytes).from_address(handle)

    def wrap_stream(self, ledger: ep.spi.Ledger, handle: Any) -> ep.spi.Stream:
        if not isinstance(handle, int):
            raise TypeError(f"{handle!r} is no queue")
        self.queues[handle] = WaitingStream(ledger, is_synchronous=False, is_timed=False)
        return self.queues[handle]


class MustStream(ep.spi.Stream):
    """Writes what a provider must and no more; `_synchronize` waits until `gate` is set, then does the work."""

    def __init__(self, ledger: ep.spi.Ledger, *, is_synchronous: bool = False, is_timed: bool = True) -> None:
        super().__init__(ledger, is_synchronous=is_synchronous, is_timed=is_timed)
        self.queue: list[Any] = []
        self.gate = threading.Event()
        self.gate.set()
        self._one = threading.Lock()

    def copy(self, dst: Any, src: Any, nbytes: int) -> None:
        def work() -> None:
            _content(dst)[:nbytes] = _content(src)[:nbytes]

        self.queue.append(work)

    def synchronize(self) -> None:
        self.gate.wait(60)
        with self._one:
            while self.queue:
                self.queue.pop(0)()


class PollingStream(ManualStream):
    """Answers whether it is idle; what `interrupt` holds is raised by the next question."""

    interrupt: BaseException | None = None
    questions = 0

    def is_idle(self) -> bool:
        self.questions += 1
        error, self.interrupt = self.interrupt, None
        if error is not None:
            raise error
        return not self.queue

    def synchronize(self) -> None:
        assert not self.queue


class WaitingStream(ManualStream):
    """Notes the events that it waits for."""

    def __init__(self, ledger: ep.spi.Ledger, *, is_synchronous: bool, is_timed: bool) -> None:
        super().__init__(ledger, is_synchronous=is_synchronous, is_timed=is_timed)
        self.waits: list[ep.Event] = []

    def wait(self, event: ep.Event) -> None:
        self.waits.append(event)


class LaneStream(ManualStream):
    """Does each thing at once: what a Worker needs."""

    def __init__(self, ledger: ep.spi.Ledger, *, is_timed: bool = True) -> None:
        super().__init__(ledger, is_synchronous=True, is_timed=is_timed)

    def enqueue(self, work: Any) -> None:
        super().enqueue(work)
        self.advance()


class ManualEvent(ep.spi.Event):
    def __init__(self, stream: ManualStream) -> None:
        self.stream = stream
        self.place = stream.enqueued

    def is_done(self) -> bool:
        return self.stream.done >= self.place

    def seconds_since(self, earlier: ManualEvent) -> float:
        return (self.place - earlier.place) * 1e-3


def _content(side: Any) -> memoryview:
    if isinstance(side, memoryview):
        return side
    return memoryview(side.handle).cast("B")[side.offset : side.offset + side.nbytes]


class NegateKernel(ep.Kernel):
    def launch(self, stream: Any, memories: Any, scalars: Any) -> None:
        x, out = memories

        def work() -> None:
            _content(out)[:] = bytes((256 - byte) % 256 for byte in _content(x))

        stream.enqueue(work)


class AddKernel(ep.Kernel):
    def launch(self, stream: Any, memories: Any, scalars: Any) -> None:
        a, b, out = memories

        def work() -> None:
            _content(out)[:] = bytes((x + y) % 256 for x, y in zip(_content(a), _content(b), strict=True))

        stream.enqueue(work)


class ScaleKernel(ep.Kernel):
    def launch(self, stream: Any, memories: Any, scalars: Any) -> None:
        x, out = memories

        def work() -> None:
            source, target = _content(x).cast("i"), _content(out).cast("i")
            for index, value in enumerate(source):
                target[index] = scalars[0] * value

        stream.enqueue(work)


class Strategy(ep.Implementation):
    """Accepts what `accept` says and counts what it compiles."""

    def __init__(self, name: str, kernel: type[ep.Kernel], *, answer: Any = True) -> None:
        self._name = name
        self.kernel = kernel
        self.answer = answer
        self.keys: list[ep.KernelKey] = []

    @property
    def name(self) -> str:
        return self._name

    def accepts(self, descriptor: ep.Descriptor, info: ep.DeviceInfo) -> bool:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]

    def compile(self, key: ep.KernelKey, device: ep.spi.Device) -> str:
        self.keys.append(key)
        return "code"

    def create(self, descriptor: ep.Descriptor, device: ep.spi.Device, code: str) -> ep.Kernel:
        assert code == "code"
        return self.kernel()


def figures(device: ep.Device) -> tuple[int, int, int, int]:
    """Return a device's bytes in use and reserved, its pool's hits and misses."""
    info = device.memory_info()
    return info.in_use, info.reserved, info.hits, info.misses
