"""Waits for events across streams, devices and providers: exact, because the stream in front is held back."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.order import Order
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_conformance.fixture.trial import Trial

_DEADLINE_SECONDS: Final = 20.0
_OLD: Final = np.full(4096, 0x0D, np.uint8)
_NEW: Final = np.full(4096, 0x1E, np.uint8)


def _others(trial: Trial) -> Iterator[ep.Device]:
    """Yield a device of each other provider, and another of the same one, as far as they are here."""
    ours = trial.device.provider
    yield from [device for device in ours.devices() if device is not trial.device][:1]
    for name in ep.providers():
        if name != ours.name:
            with contextlib.suppress(ep.UnavailableError):
                yield from ep.provider(name).devices()[:1]


def _asynchronous(trial: Trial, device: ep.Device) -> ep.Stream:
    try:
        stream = device.stream(synchronous=False)
    except ep.UnsupportedError:
        stream = device.stream()
    trial.first(stream)
    return stream


@case()
def holds_back_what_is_behind_it(trial: Trial) -> None:
    """No work after wait(event) is done before the event; work before it is."""
    first, second, reader = trial.asynchronous(), trial.asynchronous(), trial.stream()
    memory, other = trial.holding(reader, _OLD), trial.holding(reader, _OLD)
    held = gate(trial, first)
    event = first.record()
    second.fill(other, b"\x1e")
    before = second.record()
    second.wait(event)
    second.fill(memory, b"\x1e")
    after = second.record()
    before.synchronize(_DEADLINE_SECONDS)
    trial.same_bytes("memory in front of the wait", trial.content(reader, other), _NEW)
    if held.holds:
        trial.require(not after.is_done and not second.is_idle, "the wait holds its stream back")
        order = Order(("call", first), ("fill", second), otherwise=_NEW)
        trial.same_bytes("memory behind the wait", trial.content(reader, memory), _OLD, order)
    held.open()
    after.synchronize(_DEADLINE_SECONDS)
    order = Order(("fill", second), ("event.synchronize()", None), otherwise=_OLD)
    trial.same_bytes("memory behind the wait", trial.content(reader, memory), _NEW, order)


@case()
def host_that_enqueues_it_goes_on(trial: Trial) -> None:
    """wait(event) of the same device returns before the event is done, unless it is counted as degraded."""
    before = trial.device.degraded["wait"]
    first, second = trial.asynchronous(), trial.asynchronous()
    held = gate(trial, first)
    event = first.record()
    if not held.holds or trial.device.degraded["event"]:
        return
    held.open_later(0.2)
    second.wait(event)
    went_on = not event.is_done
    counted = trial.device.degraded["wait"] > before
    trial.require(went_on != counted, f"the host waited: {not went_on}; counted as degraded: {counted}")
    second.synchronize(_DEADLINE_SECONDS)


@case()
def many_streams_wait_for_one(trial: Trial) -> None:
    """Eight streams wait for the same event: none goes on before it, all do after it."""
    first, reader = trial.asynchronous(), trial.stream()
    memory = trial.holding(reader, np.zeros(8 * 64, np.uint8))
    held = gate(trial, first)
    event = first.record()
    streams = [trial.asynchronous() for _ in range(8)]
    for place, stream in enumerate(streams):
        stream.wait(event)
        stream.fill(memory[64 * place : 64 * place + 64], bytes([place + 1]))
    if held.holds:
        orders = (Order(("call", first), ("fill", stream), place + 1) for place, stream in enumerate(streams))
        untouched = np.zeros(8 * 64, np.uint8)
        trial.same_bytes("memory of streams that wait", trial.content(reader, memory), untouched, *orders)
    held.open()
    for stream in streams:
        stream.synchronize(_DEADLINE_SECONDS)
    trial.same_bytes("memory", trial.content(reader, memory), np.repeat(np.arange(1, 9, dtype=np.uint8), 64))


@case()
def one_stream_waits_for_many(trial: Trial) -> None:
    """A stream that waits for events of four others comes after all of them, in any order of their ends."""
    streams, last, reader = [trial.asynchronous() for _ in range(4)], trial.asynchronous(), trial.stream()
    gates = [gate(trial, stream) for stream in streams]
    memory = trial.holding(reader, _OLD)
    for stream in streams:
        last.wait(stream.record())
    last.fill(memory, b"\x1e")
    for place in (2, 0, 3, 1):
        if all(held.holds for held in gates):
            order = Order(("call", streams[place]), ("fill", last), otherwise=_NEW)
            trial.same_bytes("memory of a stream that waits", trial.content(reader, memory), _OLD, order)
        gates[place].open()
    last.synchronize(_DEADLINE_SECONDS)
    trial.same_bytes("memory", trial.content(reader, memory), _NEW)


@case(since="1.1")
def holds_back_streams_of_every_kind(trial: Trial) -> None:
    """Streams of every priority, with and without times, wait for events of one another as all others do."""
    kinds = [{"priority": priority, "timed": timed} for priority in (-1, 0, 1) for timed in (True, False)]
    reader = trial.stream()
    for kind, place in zip(kinds, trial.rng.permutation(len(kinds)), strict=True):
        other = kinds[place]
        first, second = (_of_kind(trial, **options) for options in (kind, other))
        memory = trial.holding(reader, _OLD)
        held = gate(trial, first)
        first.fill(memory, b"\x2f")
        second.wait(first.record())
        second.fill(memory, b"\x1e")
        held.hold_back(second)
        trial.device.synchronize()
        order = Order((f"fill on a stream of {kind}", None), (f"fill on a stream of {other}", None), otherwise=0x2F)
        trial.same_bytes("memory behind the wait", trial.content(reader, memory), _NEW, order)


def _of_kind(trial: Trial, **options: Any) -> ep.Stream:
    """Return an asynchronous stream with options, or one in the device's default mode if it has no asynchronous ones."""
    try:
        return trial.stream(synchronous=False, **options)
    except ep.UnsupportedError:
        return trial.stream(**options)


@case()
def crosses_modes(trial: Trial) -> None:
    """A synchronous stream waits for an asynchronous one's event at once; that is no service of EP's."""
    for stream in trial.streams():
        if not stream.is_synchronous:
            continue
        before = trial.device.degraded["wait"]
        first, memory = trial.asynchronous(), trial.memory(_NEW.nbytes)
        held = gate(trial, first)
        first.fill(memory, b"\x1e")
        event = first.record()
        held.open_later()
        stream.wait(event)
        trial.require(event.is_done, "the event is done when wait() of a synchronous stream returns")
        trial.same_bytes("memory", trial.content(stream, memory), _NEW)
        trial.equal("degraded waits of a synchronous stream", trial.device.degraded["wait"], before)


@case()
def of_ours_for_another_device(trial: Trial) -> None:
    """A stream waits for events of other devices and providers before later work; waits of the host are counted."""
    for device in _others(trial):
        theirs, ours = _asynchronous(trial, device), trial.asynchronous()
        memory = trial.holding(trial.stream(), _OLD)
        before = trial.device.degraded["wait"]
        held = gate(trial, theirs)
        event = theirs.record()
        held.open_later(0.2)
        ours.wait(event)
        went_on = not event.is_done
        ours.fill(memory, b"\x1e")
        ours.synchronize(_DEADLINE_SECONDS)
        trial.require(event.is_done, f"the event of {device.name} is done before what waits for it")
        trial.same_bytes("memory", trial.content(ours, memory), _NEW)
        counted = trial.device.degraded["wait"] > before
        if held.holds and not device.degraded["event"] and not ours.is_synchronous:
            trial.require(went_on != counted, f"waiting for {device.name}: host went on {went_on}, degraded {counted}")


@case()
def of_another_device_for_ours(trial: Trial) -> None:
    """Streams of other devices and providers wait for this device's events."""
    for device in _others(trial):
        theirs, ours, reader = _asynchronous(trial, device), trial.asynchronous(), trial.stream()
        memory = trial.holding(reader, _OLD)
        before = device.degraded["wait"]
        held = gate(trial, ours)
        ours.fill(memory, b"\x1e")
        event = ours.record()
        held.open_later(0.2)
        theirs.wait(event)
        went_on = not event.is_done
        theirs.synchronize(_DEADLINE_SECONDS)
        trial.require(event.is_done, f"the event is done when {theirs.name}, which waited for it, is idle")
        trial.same_bytes("memory", trial.content(reader, memory), _NEW)
        counted = device.degraded["wait"] > before
        if held.holds and not trial.device.degraded["event"] and not theirs.is_synchronous:
            trial.require(went_on != counted, f"{device.name} waiting: host went on {went_on}, degraded {counted}")


@case()
def time_includes_what_held_the_stream(trial: Trial) -> None:
    """Timed events around a function that takes 50 ms are at least that far apart: they are of the stream, not the host."""
    stream = trial.asynchronous()
    if not stream.is_timed:
        message = f"{stream} is untimed"
        raise ep.UnsupportedError(message)
    stream.call(lambda: None)
    stream.synchronize(_DEADLINE_SECONDS)
    begin = time.perf_counter()
    first = stream.record(timed=True)
    stream.call(lambda: time.sleep(0.05))
    second = stream.record(timed=True)
    second.synchronize(_DEADLINE_SECONDS)
    host, seconds = time.perf_counter() - begin, second.seconds_since(first)
    trial.require(0.04 <= seconds <= host * 1.05 + 1e-3, f"{seconds} device seconds around 0.05 s, in {host} host seconds")  # noqa: PLR2004  # fmt: skip


@case()
def of_a_closed_streams_event(trial: Trial) -> None:
    """A stream waits for an event whose stream was closed or dropped with work under way."""
    first, second, reader = trial.asynchronous(), trial.asynchronous(), trial.stream()
    memory = trial.holding(reader, _OLD)
    dropped = trial.unkept()
    held = gate(trial, dropped)
    dropped.fill(memory, b"\x1e")
    event = dropped.record()
    del dropped
    second.wait(event)
    held.hold_back(second)
    first.close()
    trial.same_bytes("memory", trial.content(second, memory), _NEW)
