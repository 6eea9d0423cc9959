"""Streams: order, idleness, waiting, closing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

import ep
from ep_conformance.fixture.gate import gate, late
from ep_conformance.fixture.long import check_long, spin
from ep_conformance.fixture.order import Order
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_DEADLINE_SECONDS = 20.0
_HELD_WAITS = 20


@case()
def is_in_order(trial: Trial) -> None:
    """A random sequence of uploads, fills and copies on one stream ends as if each were done before the next."""
    for stream in trial.streams():
        content = trial.noise(4096)
        memory = trial.holding(stream, content)
        held = gate(trial, stream)
        for _ in range(150):
            length = int(trial.rng.integers(1, 1024))
            at, to = (int(place) for place in trial.rng.integers(0, 1024, 2))
            match int(trial.rng.integers(3)):
                case 0:
                    piece = trial.noise(length)
                    stream.upload(memory[to : to + length], piece)
                    content[to : to + length] = piece
                case 1:
                    value = int(trial.rng.integers(256))
                    stream.fill(memory[to : to + length], bytes([value]))
                    content[to : to + length] = value
                case _:
                    stream.copy(memory[2048 + to : 2048 + to + length], memory[at : at + length])
                    content[2048 + to : 2048 + to + length] = content[at : at + length]
        held.open()
        trial.same_bytes("memory", trial.content(stream, memory), content)


@case()
def synchronous_streams_are_always_idle(trial: Trial) -> None:
    """A stream that says it is synchronous has nothing under way when a verb returns."""
    for stream in trial.streams():
        if not stream.is_synchronous:
            continue
        old, new = trial.noise(64), trial.noise(64)
        target, _ = late(trial, stream, old, new)
        trial.require(stream.is_idle, "stream.is_idle after a verb of a synchronous stream")
        order = Order(("copy", stream), ("the return of copy()", None), otherwise=old)
        trial.same_bytes("memory", trial.content(trial.stream(), target), new, order)


@case()
def mode_is_the_one_asked_for(trial: Trial) -> None:
    """stream(synchronous=...) gives that mode or is UnsupportedError; one of the two exists."""
    found = []
    for synchronous in (True, False):
        try:
            stream = trial.stream(synchronous=synchronous)
        except ep.UnsupportedError:
            continue
        trial.equal(f"stream(synchronous={synchronous}).is_synchronous", stream.is_synchronous, synchronous)
        found.append(synchronous)
    trial.require(trial.stream().is_synchronous in found, "the mode of stream() can be asked for by name")


@case()
def idle_means_done(trial: Trial) -> None:
    """Once is_idle is true, another stream sees all of the work."""
    old, new = trial.noise(100_000), trial.noise(100_000)
    reader = trial.stream()
    for stream in trial.streams():
        target, held = late(trial, stream, old, new)
        if not held.linger(lambda: stream.is_idle):  # noqa: B023 - called in this turn of the loop
            held.open()
        spin(trial, "stream.is_idle", lambda: stream.is_idle)  # noqa: B023 - likewise
        order = Order(("copy", stream), ("stream.is_idle", None), otherwise=old)
        trial.same_bytes("memory once is_idle", trial.content(reader, target), new, order)


@case(since="1.1")
def long_operations_are_done(trial: Trial) -> None:
    """When is_idle says so, or synchronize() returns, a copy, upload, fill, download or kernel that takes long has written its end."""
    for stream in (trial.asynchronous(), trial.stream()):
        check_long(trial, stream, "stream.is_idle", lambda: spin(trial, "stream.is_idle", lambda: stream.is_idle))  # noqa: B023 - called in this turn of the loop
        check_long(trial, stream, "stream.synchronize()", stream.synchronize)


@case()
def held_back_is_not_idle(trial: Trial) -> None:
    """While its last work is under way a stream is not idle, its event not done, and a wait for it times out."""
    stream, memory = trial.asynchronous(), trial.memory(1000)
    stream.fill(memory, b"\7")
    held = gate(trial, stream)
    if held.holds:
        for _ in range(50):
            time.sleep(0.0002)  # its function has begun by now, and has not returned
            trial.require(not stream.is_idle, "stream.is_idle while its last function runs is false")
        trial.refuses("synchronize(timeout=0.01)", ep.TimeoutError, lambda: stream.synchronize(timeout=0.01))
    event = stream.record()
    trial.require(not (held.holds and event.is_done), "event.is_done while the function before it runs is false")
    held.open()
    stream.synchronize(timeout=_DEADLINE_SECONDS)
    trial.require(stream.is_idle and event.is_done, "after synchronize() the stream is idle and the event done")
    trial.same_bytes("memory", trial.content(stream, memory), np.full(1000, 7, np.uint8))


@case()
def synchronize_means_done(trial: Trial) -> None:
    """After synchronize() another stream sees all of the work, and the stream is idle."""
    old, new = trial.noise(100_000), trial.noise(100_000)
    reader = trial.stream()
    for stream in trial.streams():
        target, held = late(trial, stream, old, new)
        held.open_later()
        stream.synchronize()
        trial.require(stream.is_idle, "stream.is_idle after synchronize()")
        order = Order(("copy", stream), ("stream.synchronize()", None), otherwise=old)
        trial.same_bytes("memory after synchronize()", trial.content(reader, target), new, order)


@case()
def timeout_leaves_it_usable(trial: Trial) -> None:
    """synchronize(timeout=0) is done or TimeoutError; either way the stream works on and finishes."""
    for stream in trial.streams():
        old, new = trial.noise(1000), trial.noise(1000)
        target, held = late(trial, stream, old, new)
        try:
            stream.synchronize(timeout=0)
        except ep.TimeoutError as error:
            trial.require(isinstance(error, TimeoutError), "ep.TimeoutError is the builtin, too")
        else:
            trial.require(not held.holds, "synchronize(timeout=0) of a stream that is held back is TimeoutError")
        held.open()
        stream.fill(target[0:10], b"\7")
        stream.synchronize(timeout=_DEADLINE_SECONDS)
        new[0:10] = 7
        trial.same_bytes("memory", trial.content(stream, target), new)
    trial.refuses("synchronize(timeout=-1)", ValueError, lambda: trial.stream().synchronize(timeout=-1), "timeout")


@case()
def verbs_return_before_their_work_is_done(trial: Trial) -> None:
    """On an asynchronous stream that is held back every verb returns, and nothing is done before the stream goes on."""
    stream, reader, other = trial.asynchronous(), trial.stream(), trial.asynchronous()
    content, new, result = trial.noise(10_000), trial.noise(10_000), np.zeros(10_000, np.uint8)
    memory, copied = trial.holding(reader, content), trial.holding(reader, content)
    held = gate(trial, stream)
    stream.fill(memory, b"\x5a")
    stream.upload(memory[:5000], new[:5000])
    stream.copy(copied, memory)
    stream.download(result, copied)
    event = stream.record()
    stream.wait(other.record())
    if held.holds:
        trial.require(not stream.is_idle and not event.is_done, "nothing is done while the stream is held back")
        order = Order(("call", stream), ("fill", stream), otherwise=0x5A)
        trial.same_bytes("memory of a stream that is held back", trial.content(reader, memory), content, order)
        trial.require(not result.any(), "the download's target is not written yet")
    held.open()
    stream.synchronize(_DEADLINE_SECONDS)
    content[:5000], content[5000:] = new[:5000], 0x5A
    trial.same_bytes("what was downloaded", result, content)
    trial.require(event.is_done and stream.is_idle, "all is done after synchronize()")


@case()
def one_held_back_does_not_hold_others(trial: Trial) -> None:
    """While one stream is held back, others of all modes do their work and synchronise."""
    held = gate(trial, trial.asynchronous())
    for stream in trial.streams():
        content = trial.noise(10_000)
        memory = trial.memory(content.nbytes)
        stream.upload(memory, content)
        trial.same_bytes("memory", trial.content(stream, memory), content)
    held.open()


@case()
def synchronize_ends_when_the_work_does(trial: Trial) -> None:
    """A wait that began before the work could end returns soon after it did."""
    stream, memory = trial.asynchronous(), trial.memory(100)
    held = gate(trial, stream)
    stream.fill(memory, b"\x21")
    held.open_later()
    stream.synchronize(_DEADLINE_SECONDS)
    trial.require(stream.is_idle, "stream.is_idle after synchronize()")
    trial.same_bytes("memory", trial.content(trial.stream(), memory), np.full(100, 0x21, np.uint8))


@case()
def a_thousand_can_be_enqueued(trial: Trial) -> None:
    """A thousand enqueues wait in a stream that is held back, and are done in order when it goes on."""
    stream, memory = trial.asynchronous(), trial.memory(1000)
    held = gate(trial, stream)
    needed = np.zeros(1000, np.uint8)
    stream.fill(memory, b"\0")
    for step in range(1000):
        at = int(trial.rng.integers(0, 900))
        stream.fill(memory[at : at + 100], bytes([step % 256]))
        needed[at : at + 100] = step % 256
    held.open()
    trial.same_bytes("memory", trial.content(stream, memory), needed)


@case()
def priority_is_accepted_everywhere(trial: Trial) -> None:
    """stream(priority=...) of any integer gives a stream that works, with or without an effect; of a word, TypeError."""
    for priority in (-1000, -1, 0, 1, 1000):
        stream, content = trial.stream(priority=priority), trial.noise(500)
        memory = trial.memory(content.nbytes)
        stream.upload(memory, content)
        trial.same_bytes("memory", trial.content(stream, memory), content)
    trial.refuses("stream(priority='high')", TypeError, lambda: trial.device.stream("high"), "priority")  # type: ignore[arg-type]


@case()
def streams_do_not_mix(trial: Trial) -> None:
    """Interleaved work on two streams ends as each stream's own order says."""
    streams = [trial.asynchronous(), trial.asynchronous()]
    memories = [trial.memory(8192), trial.memory(8192)]
    gates = [gate(trial, stream) for stream in streams]
    for step in range(60):
        for place, stream in enumerate(streams):
            stream.fill(memories[place], bytes([(7 * step + place) % 256]))
            stream.copy(memories[place][4096:], memories[place][:4096])
            stream.fill(memories[place][:2048], bytes([(11 * step + place) % 256]))
    for held in gates:
        held.open()
    for place, stream in enumerate(streams):
        needed = np.full(8192, (7 * 59 + place) % 256, np.uint8)
        needed[:2048] = (11 * 59 + place) % 256
        trial.same_bytes(f"memory of stream {place}", trial.content(stream, memories[place]), needed)


@case()
def many_can_be_open(trial: Trial) -> None:
    """Forty streams can be open at once, each doing its own work."""
    streams = [trial.stream() for _ in range(40)]
    memory = trial.memory(40 * 100)
    for place, stream in enumerate(streams):
        stream.fill(memory[place * 100 : place * 100 + 100], bytes([place]))
    for stream in streams:
        stream.synchronize()
    trial.same_bytes("memory", trial.content(streams[0], memory), np.repeat(np.arange(40, dtype=np.uint8), 100))


@case()
def close_waits_for_the_work(trial: Trial) -> None:
    """close() returns when the stream's work is done; a second close() is nothing."""
    old, new = trial.noise(5000), trial.noise(5000)
    reader = trial.stream()
    for stream in trial.streams():
        target, held = late(trial, stream, old, new)
        held.open_later()
        stream.close()
        stream.close()
        order = Order(("copy", stream), ("stream.close()", None), otherwise=old)
        trial.same_bytes("memory after close()", trial.content(reader, target), new, order)


@case()
def closed_stream_refuses_every_verb(trial: Trial) -> None:
    """After close() every verb is ClosedError."""
    stream, memory, host = trial.stream(), trial.memory(8), bytearray(8)
    event = trial.stream().record()
    stream.close()
    trial.refuses("upload", ep.ClosedError, lambda: stream.upload(memory, host), "upload")
    trial.refuses("download", ep.ClosedError, lambda: stream.download(host, memory), "download")
    trial.refuses("copy", ep.ClosedError, lambda: stream.copy(memory[0:4], memory[4:8]), "copy")
    trial.refuses("fill", ep.ClosedError, lambda: stream.fill(memory, b"\0"), "fill")
    trial.refuses("record", ep.ClosedError, stream.record, "record")
    trial.refuses("wait", ep.ClosedError, lambda: stream.wait(event), "wait")
    trial.refuses("synchronize", ep.ClosedError, stream.synchronize, "synchronize")


@case()
def timeout_ends_a_wait_and_ctrl_c_would(trial: Trial) -> None:
    """While slow work runs, synchronize(timeout) comes back, and the work ends undisturbed."""
    stream = trial.asynchronous()
    old, new = trial.noise(100), trial.noise(100)
    target, held = late(trial, stream, old, new)
    waits = 0
    while waits < 10_000:  # noqa: PLR2004 - a thousandth of a second each
        try:
            stream.synchronize(timeout=0.001)
        except ep.TimeoutError:
            waits += 1
            if waits == _HELD_WAITS:
                held.open()
        else:
            break
    trial.require(
        waits >= _HELD_WAITS or not held.holds, f"{waits} waits of a stream that is held back ended in TimeoutError"
    )
    trial.same_bytes("memory", trial.content(stream, target), new)
