"""Events: the meaning of done, waits between streams, device time."""

from __future__ import annotations

import contextlib
import itertools
import time
from typing import TYPE_CHECKING

import numpy as np

import ep
from ep_conformance.fixture.gate import gate, late
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.fixture.long import check_long, spin
from ep_conformance.fixture.order import Order
from ep_conformance.fixture.work import busy
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_DEADLINE_SECONDS = 20.0
_HELD_SECONDS = 5.0  # less than a gate holds

_LEAST_SHARE = 8
"""Of the host's time between two events and the wait for them; the rest may be calls of the host."""


@case()
def wait_orders_copies(trial: Trial) -> None:
    """Work after wait(event) sees all work that was before the event on the other stream."""
    for _ in range(3):
        first, second = trial.asynchronous(), trial.asynchronous()
        old, new = trial.noise(100_000), trial.noise(100_000)
        seen = trial.memory(new.nbytes)
        target, held = late(trial, first, old, new)
        second.wait(first.record())
        second.copy(seen, target)
        held.hold_back(second)
        order = Order(("copy", first), ("copy", second), otherwise=old)
        trial.same_bytes("what the second stream saw", trial.content(second, seen), new, order)


@case()
def wait_orders_fills(trial: Trial) -> None:
    """A fill after wait(event) comes after the other stream's write."""
    for _ in range(3):
        first, second = trial.asynchronous(), trial.asynchronous()
        old, new = trial.noise(50_000), trial.noise(50_000)
        target, held = late(trial, first, old, new)
        second.wait(first.record())
        second.fill(target, b"\x55")
        held.hold_back(second)
        first.synchronize()
        order = Order(("copy", first), ("fill", second), otherwise=new)
        trial.same_bytes("memory", trial.content(second, target), np.full(50_000, 0x55, np.uint8), order)


@case()
def wait_orders_uploads(trial: Trial) -> None:
    """An upload after wait(event) comes after the other stream's write, also one whose source is constant."""
    for constant in (False, True) * 2:
        first, second = trial.asynchronous(), trial.asynchronous()
        old, new, sent = (trial.noise(50_000) for _ in range(3))
        target, held = late(trial, first, old, new)
        second.wait(first.record())
        second.upload(target, sent, constant=constant)
        held.hold_back(second)
        first.synchronize()
        order = Order(("copy", first), ("upload", second), otherwise=new)
        trial.same_bytes("memory", trial.content(second, target), sent, order)


@case()
def wait_orders_downloads(trial: Trial) -> None:
    """A download right after wait(event) reads the bytes that the other stream wrote before the event."""
    for _ in range(3):
        first, second = trial.asynchronous(), trial.asynchronous()
        old, new = trial.noise(100_000), trial.noise(100_000)
        target, held = late(trial, first, old, new)
        seen = np.zeros(new.nbytes, np.uint8)
        second.wait(first.record())
        second.download(seen, target)
        held.hold_back(second)
        second.synchronize()
        order = Order(("copy", first), ("download", second), otherwise=old)
        trial.same_bytes("what the second stream saw", seen, new, order)


@case(kernels=True)
def wait_orders_kernels(trial: Trial) -> None:
    """A kernel after wait(event) reads the other stream's earlier write, and its result is read after another event."""
    kernel = kernel_of(trial)
    size = 20_000
    primitive = kernel.descriptor(size).on(trial.device)
    for _ in range(3):
        first, second, third = (trial.asynchronous() for _ in range(3))
        old, new = kernel.data(trial, size), kernel.data(trial, size)
        out, seen = trial.memory(4 * size), trial.memory(4 * size)
        target, held = late(trial, first, old.view(np.uint8), new.view(np.uint8))
        second.wait(first.record())
        primitive(second, **{kernel.operand: target, "out": out})
        third.wait(second.record())
        third.copy(seen, out)
        held.hold_back(second, third)
        kernel.check("behind two waits", size, new, trial.content(third, seen))


@case()
def wait_is_a_chain(trial: Trial) -> None:
    """A value carried through eight streams by eight waits arrives."""
    streams = [trial.asynchronous() for _ in range(8)]
    old, new = trial.noise(10_000), trial.noise(10_000)
    copies = [trial.memory(new.nbytes) for _ in streams[1:]]
    target, held = late(trial, streams[0], old, new)
    chain = [target, *copies]
    for place, (before, stream) in enumerate(itertools.pairwise(streams)):
        stream.wait(before.record())
        stream.copy(chain[place + 1], chain[place])
    held.hold_back(*streams[1:])
    order = Order(("copy", streams[0]), ("copy", streams[1]), otherwise=old)
    trial.same_bytes("the last of eight", trial.content(streams[-1], chain[-1]), new, order)


@case()
def wait_protects_a_reader(trial: Trial) -> None:
    """A writer that waits for a reader's event does not overwrite bytes that are still to be read."""
    reader, writer = trial.asynchronous(), trial.asynchronous()
    content = trial.noise(200_000)
    memory, seen = trial.holding(reader, content), trial.memory(content.nbytes)
    held = gate(trial, reader)
    reader.copy(seen, memory)
    writer.wait(reader.record())
    writer.fill(memory, b"\xff")
    held.hold_back(writer)
    writer.synchronize()
    order = Order(("copy", reader), ("fill", writer), otherwise=0xFF)
    trial.same_bytes("what the reader saw", trial.content(reader, seen), content, order)


@case()
def wait_of_a_done_event_and_of_its_own(trial: Trial) -> None:
    """Waiting for a done event, or for one of the same stream, is legal and holds nothing up."""
    for stream in trial.streams():
        event, memory = stream.record(), trial.memory(16)
        stream.wait(event)
        event.synchronize()
        other = trial.stream()
        other.wait(event)
        other.fill(memory, b"\3")
        trial.same_bytes("memory", trial.content(other, memory), np.full(16, 3, np.uint8))


@case()
def done_means_done(trial: Trial) -> None:
    """Once is_done is true, another stream sees all that was before the event."""
    reader = trial.stream()
    for stream in trial.streams():
        for _ in range(3):
            old, new = trial.noise(200_000), trial.noise(200_000)
            target, held = late(trial, stream, old, new)
            event = stream.record()
            if not held.linger(lambda: event.is_done):  # noqa: B023 - called in this turn of the loop
                held.open()
            spin(trial, "event.is_done", lambda: event.is_done)  # noqa: B023 - likewise
            order = Order(("copy", stream), ("event.is_done", None), otherwise=old)
            trial.same_bytes("memory once is_done", trial.content(reader, target), new, order)


@case()
def synchronize_means_done(trial: Trial) -> None:
    """After event.synchronize() another stream sees all that was before the event."""
    reader = trial.stream()
    for stream in trial.streams():
        old, new = trial.noise(200_000), trial.noise(200_000)
        target, held = late(trial, stream, old, new)
        event = stream.record()
        held.open_later()
        event.synchronize()
        trial.require(event.is_done, "event.is_done after synchronize()")
        order = Order(("copy", stream), ("event.synchronize()", None), otherwise=old)
        trial.same_bytes("memory after event.synchronize()", trial.content(reader, target), new, order)


@case(since="1.1")
def long_operations_are_done(trial: Trial) -> None:
    """When is_done says so, or synchronize() returns, a copy, upload, fill, download or kernel that takes long has written its end."""
    stream = trial.asynchronous()

    def ask() -> None:
        event = stream.record()
        spin(trial, "event.is_done", lambda: event.is_done)

    check_long(trial, stream, "event.is_done", ask)
    check_long(trial, stream, "event.synchronize()", lambda: stream.record().synchronize())


@case(since="1.1")
def long_operations_are_waited_for(trial: Trial) -> None:
    """Work behind a wait for an event comes after the last bytes of a copy, upload, fill, download or kernel that takes long."""
    stream, other = trial.asynchronous(), trial.asynchronous()

    def follow() -> None:
        other.wait(stream.record())
        event = other.record()
        spin(trial, "event.is_done", lambda: event.is_done)

    check_long(trial, stream, "an event behind a wait on another stream", follow)


@case()
def stays_done(trial: Trial) -> None:
    """An event never moves: once done it stays done, even while its stream works on."""
    for stream in trial.streams():
        event = stream.record()
        event.synchronize()
        held = gate(trial, stream)
        later = stream.record()
        trial.require(event.is_done, "an event that was done is done while its stream works on")
        held.open()
        later.synchronize()
        trial.require(event.is_done and later.is_done, "both events are done")


@case()
def comes_before_later_work(trial: Trial) -> None:
    """An event is done as soon as the work before it is: it does not wait for later work."""
    stream, reader = trial.asynchronous(), trial.stream()
    content = trial.noise(4096)
    memory = trial.memory(content.nbytes)
    stream.upload(memory, content)
    event = stream.record()
    held = gate(trial, stream)
    event.synchronize(timeout=_HELD_SECONDS)
    trial.same_bytes("memory", trial.content(reader, memory), content)
    held.open()


@case()
def timeout_leaves_it_usable(trial: Trial) -> None:
    """event.synchronize(timeout=0) is done or TimeoutError; the event can be waited for again."""
    stream = trial.asynchronous()
    old, new = trial.noise(1000), trial.noise(1000)
    target, held = late(trial, stream, old, new)
    event = stream.record()
    if held.holds:
        trial.refuses("event.synchronize(timeout=0)", ep.TimeoutError, lambda: event.synchronize(timeout=0))
    else:
        with contextlib.suppress(ep.TimeoutError):
            event.synchronize(timeout=0)
    held.open()
    event.synchronize(timeout=_DEADLINE_SECONDS)
    order = Order(("copy", stream), ("event.synchronize()", None), otherwise=old)
    trial.same_bytes("memory", trial.content(trial.stream(), target), new, order)


@case()
def outlives_its_stream(trial: Trial) -> None:
    """An event of a closed stream is done, and can still be waited for."""
    stream, other = trial.asynchronous(), trial.stream()
    held = gate(trial, stream)
    event = stream.record()
    held.open_later()
    stream.close()
    trial.require(event.is_done, "the event of a closed stream is done")
    other.wait(event)
    other.synchronize()


@case()
def a_thousand_can_be_recorded(trial: Trial) -> None:
    """A thousand events, most of them dropped at once, cost nothing but time."""
    for stream in trial.streams():
        memory = trial.memory(1000)
        kept = []
        for place in range(1000):
            stream.fill(memory[place : place + 1], bytes([place % 256]))
            event = stream.record()
            if place % 100 == 0:
                kept.append(event)
        kept[-1].synchronize()
        trial.require(all(event.is_done for event in kept), "events before a done one are done")
        trial.same_bytes("memory", trial.content(stream, memory), (np.arange(1000) % 256).astype(np.uint8))


@case()
def time_is_of_the_device_and_in_seconds(trial: Trial) -> None:
    """seconds_since is about the host time around the work, never more, and grows along a stream."""
    stream = trial.asynchronous()
    if not stream.is_timed:
        message = f"{stream} is untimed"
        raise ep.UnsupportedError(message)
    busy(trial, stream)  # compiling for the first fill is no work of the device
    stream.synchronize()
    begin = time.perf_counter()
    events = [stream.record(timed=True)]
    for copies in (4, 64):
        busy(trial, stream, copies)
        events.append(stream.record(timed=True))
    events[-1].synchronize()
    host = time.perf_counter() - begin
    first, second, whole = (
        b.seconds_since(a) for a, b in ((events[0], events[1]), (events[1], events[2]), (events[0], events[2]))
    )
    trial.require(first >= 0 and second > 0, f"device times {first} and {second} of work are not negative, nor all zero")  # fmt: skip
    slack = 0.05 * host + 1e-3
    trial.require(whole <= host + slack, f"{whole} device seconds of work that took {host} host seconds")
    trial.require(whole >= host / _LEAST_SHARE, f"{whole} device seconds of work that took {host} host seconds")
    trial.require(abs(first + second - whole) <= slack, f"{first} + {second} device seconds are {whole}")
    trial.equal("seconds_since(itself)", events[1].seconds_since(events[1]), 0.0)


@case()
def time_needs_timed_and_done_events(trial: Trial) -> None:
    """seconds_since with an untimed event is ValueError that names the cure; so is a timed event on an untimed stream."""
    stream = trial.stream()
    untimed = stream.record()
    untimed.synchronize()
    trial.refuses("seconds_since of an untimed event", ValueError, lambda: untimed.seconds_since(untimed), "timed=True")
    plain = trial.stream(timed=False)
    trial.refuses("record(timed=True) on an untimed stream", ValueError, lambda: plain.record(timed=True), "timed=True")


@case()
def wait_needs_an_event(trial: Trial) -> None:
    """wait() of anything but an Event is TypeError."""
    stream: ep.Stream = trial.stream()
    thing: object = stream
    trial.refuses("wait(stream)", TypeError, lambda: stream.wait(thing), "wait", "Event")  # type: ignore[arg-type]
