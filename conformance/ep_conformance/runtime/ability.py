"""Optional abilities, by the names of `ep capabilities`: claimed, they are the provider's own and not a default of EP."""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import ep
from ep_conformance.fixture.faulty import run_faulty
from ep_conformance.fixture.gate import gate, late
from ep_conformance.fixture.lender import SecondHand
from ep_conformance.fixture.work import busy, copy_each_way
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_conformance.fixture.trial import Trial


def _own(trial: Trial, ability: str, before: int) -> None:
    """Raise UnsupportedError if a default of EP served an ability since `before`."""
    if trial.device.degraded[ability] > before:
        message = f"{ability} is degraded: a default of EP serves it"
        raise ep.UnsupportedError(message)


@case(optional=True)
def fill(trial: Trial) -> None:
    """The provider fills by itself."""
    before = trial.device.degraded["fill"]
    stream, memory = trial.stream(), trial.memory(4096)
    stream.fill(memory, b"abcd")
    trial.same_bytes("memory", trial.content(stream, memory), np.tile(np.frombuffer(b"abcd", np.uint8), 1024))
    _own(trial, "fill", before)


@case(optional=True)
def event(trial: Trial) -> None:
    """The provider records events by itself."""
    before = trial.device.degraded["event"]
    for stream in trial.streams():
        old, new = trial.noise(1000), trial.noise(1000)
        target, held = late(trial, stream, old, new)
        event = stream.record()
        held.open_later()
        event.synchronize()
        trial.same_bytes("memory", trial.content(trial.stream(), target), new)
    _own(trial, "event", before)


@case(optional=True)
def wait(trial: Trial) -> None:
    """The device, not the host, waits for an event of another stream."""
    before = trial.device.degraded["wait"]
    first, second = trial.asynchronous(), trial.asynchronous()
    if second.is_synchronous:
        message = "its streams are synchronous: the host waits in their place"
        raise ep.UnsupportedError(message)
    old, new = trial.noise(1000), trial.noise(1000)
    target, held = late(trial, first, old, new)
    second.wait(first.record())
    held.hold_back(second)
    trial.same_bytes("memory", trial.content(second, target), new)
    _own(trial, "wait", before)


@case(optional=True)
def graph(trial: Trial) -> None:
    """The provider runs graphs by itself, in place of EP's plain replay."""
    before = trial.device.degraded["graph"]
    stream, sent = trial.stream(), trial.noise(1000)
    x, out = trial.holding(stream, sent), trial.memory(1000)
    with stream.capture() as captured:
        stream.fill(out, b"\0")
        stream.copy(out, x)
    captured.launch(stream)
    trial.same_bytes("memory", trial.content(stream, out), sent)
    captured.close()
    _own(trial, "graph", before)


@case(optional=True)
def timeout(trial: Trial) -> None:
    """The provider answers whether a stream is idle, so that waits end in time without a helper thread."""
    stream = trial.asynchronous()
    kind = type(stream.twin)
    if not stream.is_synchronous and kind.is_idle is ep.spi.Stream.is_idle:
        message = "the provider's stream does not answer is_idle"
        raise ep.UnsupportedError(message)
    busy(trial, stream)
    stream.synchronize(timeout=60)
    trial.require(stream.is_idle, "stream.is_idle after synchronize(timeout=60)")


@case(optional=True)
def async_(trial: Trial) -> None:
    """The device has asynchronous streams: verbs return before their work is done."""
    stream = trial.stream(synchronous=False)
    trial.equal("stream(synchronous=False).is_synchronous", stream.is_synchronous, needed=False)
    held = gate(trial, stream)
    old, new = trial.noise(1000), trial.noise(1000)
    target = trial.holding(trial.stream(), old)
    stream.upload(target, new)
    trial.require(not (held.holds and stream.is_idle), "an asynchronous stream is not idle while its work is held back")
    held.open()
    stream.synchronize()
    trial.same_bytes("memory", trial.content(trial.stream(), target), new)


@case(optional=True)
def call(trial: Trial) -> None:
    """A function waits in the stream, not in the host that enqueued it."""
    before = trial.device.degraded["call"]
    stream, seen = trial.stream(synchronous=False), []
    held = gate(trial, stream)
    stream.call(lambda: seen.append(1))
    trial.require(not (held.holds and seen), "call() came back before its function's turn")
    held.open()
    stream.synchronize()
    trial.equal("calls", seen, [1])
    _own(trial, "call", before)


@case(optional=True)
def priority(trial: Trial) -> None:
    """The device has stream priorities: it says so, and streams of each are in order and get done."""
    if "priority" not in trial.device.info.features:
        message = "info.features has no priority: stream(priority=...) has no effect"
        raise ep.UnsupportedError(message)
    streams = [trial.stream(priority=level) for level in (-1, 0, 1)]
    contents = [trial.noise(10_000) for _ in streams]
    found = [late(trial, stream, contents[0], new) for stream, new in zip(streams, contents, strict=True)]
    for stream, (target, held), new in zip(streams, found, contents, strict=True):
        held.open()
        trial.same_bytes(f"memory of {stream.name}", trial.content(stream, target), new)


@case(optional=True)
def timing(trial: Trial) -> None:
    """Timed events carry the device's own time."""
    before = trial.device.degraded["event"]
    stream = trial.asynchronous()
    if not stream.is_timed:
        message = "its streams are untimed"
        raise ep.UnsupportedError(message)
    begin = time.perf_counter()
    first = stream.record(timed=True)
    busy(trial, stream, copies=32)
    second = stream.record(timed=True)
    second.synchronize()
    host, seconds = time.perf_counter() - begin, second.seconds_since(first)
    trial.require(0 < seconds <= host * 1.05 + 1e-3, f"{seconds} device seconds of work that took {host} host seconds")
    _own(trial, "event", before)


@case(optional=True)
def host_memory(trial: Trial) -> None:
    """memory.host() is the memory itself: each side reads the bytes that the other writes."""
    stream, content = trial.stream(), trial.noise(1000)
    memory = trial.holding(stream, content)
    host = memory[100:300].host()
    trial.equal("len(memory[100:300].host())", len(host), 200)
    trial.same_bytes("memory[100:300].host()", np.frombuffer(host, np.uint8), content[100:300])
    host[0:4] = b"ABCD"
    content[100:104] = np.frombuffer(b"ABCD", np.uint8)
    trial.same_bytes("memory", trial.content(stream, memory), content)


@case(optional=True)
def pinned_memory(trial: Trial) -> None:
    """PINNED memory takes part in every verb, and the host reads and writes it at its place."""
    _try_kind(trial, ep.MemoryKind.PINNED)


@case(optional=True)
def shared_memory(trial: Trial) -> None:
    """SHARED memory takes part in every verb, and the host reads and writes it at its place."""
    _try_kind(trial, ep.MemoryKind.SHARED)


def _try_kind(trial: Trial, kind: ep.MemoryKind) -> None:
    for stream in trial.streams():
        content = trial.noise(70_001)
        near, far = trial.device.allocate(content.nbytes, kind), trial.memory(content.nbytes)
        trial.equal("memory.kind", near.kind, kind)
        near.host()[:] = content.tobytes()
        stream.copy(far, near)
        trial.same_bytes("a copy of what the host wrote", trial.content(stream, far), content)
        stream.fill(near[5:1005], b"\x42")
        stream.copy(near[40_001:70_001], far[:30_000])
        event = stream.record()
        content[5:1005], content[40_001:] = 0x42, content[:30_000].copy()
        event.synchronize()
        trial.same_bytes("what the host reads of it", np.frombuffer(near.host(), np.uint8).copy(), content)
        trial.same_bytes("what a stream reads of it", trial.content(stream, near), content)
        near.host()[7] = 7
        content[7] = 7
        trial.same_bytes("what the host wrote later", trial.content(stream, near[0:64]), content[0:64])
        near.close()


@case(optional=True)
def memory_info(trial: Trial) -> None:
    """The device tells how much memory it has and how much is free, and refuses an allocation of more than it has."""
    info = trial.device.memory_info()
    if info.free is None:
        message = "it does not tell how much memory is free"
        raise ep.UnsupportedError(message)
    total = info.total or 0
    trial.require(0 < info.free <= total, f"free is {info.free} of {total} bytes")
    trial.require(info.reserved <= total, f"{info.reserved} bytes are reserved of {total}")
    stream, memory = trial.stream(), trial.memory(trial.fitting(96 << 20, copies=1))
    stream.fill(memory, b"\1")
    stream.synchronize()
    less = trial.device.memory_info()
    trial.require(less.free is not None and less.free <= total, f"free is {less.free} of {total} bytes")
    asked = total + 1
    trial.refuses(f"allocate({asked})", ep.OutOfMemoryError, lambda: trial.device.allocate(asked))


@case(optional=True)
def wrap_host(trial: Trial) -> None:
    """Host memory can be given to the device as it is, and is kept by its owner."""
    stream, array = trial.stream(), trial.noise(4096)
    memory = trial.device.wrap_host(array.ctypes.data, array.nbytes, array)
    before = array.copy()
    trial.same_bytes("memory", trial.content(stream, memory), before)
    stream.fill(memory[64:128], b"\x42")
    stream.synchronize()
    before[64:128] = 0x42
    trial.same_bytes("the host array", array, before)
    trial.require(ctypes.string_at(array.ctypes.data, 1) == bytes(before[:1]), "the array stays where it was")
    memory.close()


@case(optional=True)
def wrap_memory(trial: Trial) -> None:
    """A native allocation can be given to the device as it is; it is kept, and not freed, by its owner."""
    stream, content = trial.stream(), trial.noise(4096)
    memory = trial.holding(stream, content)
    wrapped = trial.device.wrap_memory(memory.handle, 2048, owner=memory)
    trial.same_bytes("wrapped memory", trial.content(stream, wrapped), content[:2048])
    stream.fill(wrapped[64:128], b"\x42")
    content[64:128] = 0x42
    wrapped.close()
    trial.device.synchronize()
    trial.same_bytes("the native allocation", trial.content(stream, memory), content)
    trial.refuses("owner=None", TypeError, lambda: trial.device.wrap_memory(memory.handle, 64, owner=None), "owner")
    trial.refuses("nbytes -1", ValueError, lambda: trial.device.wrap_memory(memory.handle, -1, owner=memory), "nbytes")
    _refuses_wild(trial, "wrap_memory", lambda handle: trial.device.wrap_memory(handle, 64, owner=memory))


@case(optional=True)
def wrap_stream(trial: Trial) -> None:
    """A native queue can be given to the device as a stream: in its order, and open after the stream's close()."""
    native = trial.stream()
    handle = native.twin.dlpack_stream()  # the one way to a native queue that all providers have
    stream = trial.device.wrap_stream(handle, owner=native)
    old, new = trial.noise(50_000), trial.noise(50_000)
    seen = trial.memory(50_000)
    target, held = late(trial, native, old, new)
    stream.copy(seen, target)
    stream.fill(target, b"\x42")
    held.open()
    stream.close()
    trial.same_bytes("what the wrapped queue copied", trial.content(native, seen), new)
    trial.require((trial.content(native, target) == 0x42).all(), "the native queue works on")  # noqa: PLR2004
    _refuses_wild(trial, "wrap_stream", lambda handle: trial.device.wrap_stream(handle, owner=native))


def _refuses_wild(trial: Trial, what: str, wrap: Callable[[Any], object]) -> None:
    """Give a handle of nothing on the device: it is refused, and the driver does not follow it."""
    for handle in (5, -1, "text", object()):
        try:
            wrap(handle)
        except (TypeError, ValueError):
            continue
        trial.require(False, f"{what} refuses {handle!r}")  # noqa: FBT003 - it came here


@case(optional=True)
def export(trial: Trial) -> None:
    """The provider shows its memory by DLPack: the exported tensor is the memory itself."""
    stream, content = trial.stream(), trial.noise(4096)
    memory = trial.holding(stream, content)
    exported = stream.export(memory, ep.TensorSpec("uint8", (4096,)))
    view, _ = ep.view(SecondHand(exported), stream)
    stream.fill(view[:64], b"\x42")
    content[:64] = 0x42
    trial.same_bytes("memory, written as its export", trial.content(stream, memory), content)


@case(optional=True)
def copy_between_devices(trial: Trial) -> None:
    """Copies between devices of the provider, each direction that it says it has, do not pass through the host."""
    others = [other for other in trial.device.provider.devices() if other is not trial.device]
    reachable = [other for other in others if trial.device.can_copy_from(other) or trial.device.can_copy_to(other)]
    if not reachable:
        message = f"it can copy from and to none of the {len(others)} other devices of its provider"
        raise ep.UnsupportedError(message)
    for other in reachable:
        copy_each_way(trial, other)


@case(optional=True, since="1.1")
def late_errors(trial: Trial) -> None:
    """The device fails on request, in its queue and not in the host that enqueues, so that late errors can be tried."""
    if type(trial.device.twin).inject is ep.spi.Device.inject:
        message = "the device injects no faults"
        raise ep.UnsupportedError(message)
    shown = run_faulty(trial, "copy")
    trial.equal("what verbs raised before anybody waited", shown["early"], [])
    trial.equal("what synchronize() named", shown["by_stream"], shown["failed"])


@case(optional=True)
def native_calls(trial: Trial) -> None:
    """The provider counts its driver calls: the count advances with work, and with nothing else."""
    before = trial.device.native_calls
    if before is None:
        message = "its driver calls are not counted"
        raise ep.UnsupportedError(message)
    stream, sent = trial.stream(), trial.noise(100)
    trial.same_bytes("memory", trial.content(stream, trial.holding(stream, sent)), sent)
    after = trial.device.native_calls
    trial.require(after is not None and after > before, f"native_calls was {before} and is {after}")
    trial.equal("native_calls without any work", trial.device.native_calls, after)
