"""Threads: objects may be used from any of them, a stream by one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ep_conformance.fixture.gate import late
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.fixture.order import Order
from ep_conformance.fixture.together import together
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_RUNS = 200


@case()
def each_with_its_own_stream(trial: Trial) -> None:
    """Four threads, each with a stream and memories of its own, do not disturb one another."""

    def work(place: int) -> None:
        stream, memory = trial.device.stream(), trial.device.allocate(10_000)
        for step in range(50):
            stream.fill(memory, bytes([(place * 50 + step) % 256]))
            host = bytearray(10_000)
            stream.download(host, memory)
            stream.synchronize()
            needed = np.full(10_000, (place * 50 + step) % 256, np.uint8)
            trial.same_bytes(f"memory of thread {place}", np.frombuffer(host, np.uint8), needed)
        memory.close()
        stream.close()

    together(4, work)


@case()
def allocate_and_close_at_once(trial: Trial) -> None:
    """Four threads allocate and close at the same time, and no two hold the same bytes."""

    def work(place: int) -> None:
        stream = trial.device.stream()
        for step in range(60):
            memories = [trial.device.allocate(64 + 100 * (step % 7)) for _ in range(4)]
            for number, memory in enumerate(memories):
                stream.fill(memory, bytes([place * 4 + number]))
            for number, memory in enumerate(memories):
                host = bytearray(memory.nbytes)
                stream.download(host, memory)
                stream.synchronize()
                needed = np.full(memory.nbytes, place * 4 + number, np.uint8)
                trial.same_bytes(f"memory {number} of thread {place}", np.frombuffer(host, np.uint8), needed)
                memory.close()
        stream.close()

    together(4, work)


@case(kernels=True, since="1.1")
def each_with_its_own_step(trial: Trial) -> None:
    """Two threads, each with a stream and a step of one primitive, run them at the same time: each step works on its own memory."""
    kernel = kernel_of(trial)
    size = 100
    primitive = kernel.descriptor(size).on(trial.device)
    streams = [trial.asynchronous(), trial.asynchronous()]
    data = [kernel.data(trial, size) for _ in streams]
    outs = [trial.memory(4 * size) for _ in streams]
    inputs = [trial.holding(stream, x.view(np.uint8)) for stream, x in zip(streams, data, strict=True)]
    bound = [
        trial.closing(primitive.bind(**{kernel.operand: x, "out": out})) for x, out in zip(inputs, outs, strict=True)
    ]

    def work(place: int) -> None:
        for _ in range(_RUNS):
            streams[place].fill(outs[place], b"\0")
            bound[place](streams[place])
            kernel.check(f"the step of thread {place}", size, data[place], trial.content(streams[place], outs[place]))

    together(2, work)


@case()
def events_cross_threads(trial: Trial) -> None:
    """An event recorded by one thread is waited for by others, on their streams and on the host."""
    first = trial.asynchronous()
    old, new = trial.noise(50_000), trial.noise(50_000)
    streams = [trial.asynchronous() for _ in range(3)]
    copies = [trial.memory(new.nbytes) for _ in range(3)]
    target, held = late(trial, first, old, new)
    event = first.record()
    held.open_later()

    def work(place: int) -> None:
        streams[place].wait(event)
        streams[place].copy(copies[place], target)
        event.synchronize()
        order = Order(("copy", first), ("copy", streams[place]), otherwise=old)
        trial.same_bytes(f"what thread {place} saw", trial.content(streams[place], copies[place]), new, order)

    together(3, work)


@case()
def a_stream_may_change_hands(trial: Trial) -> None:
    """A stream made by one thread is used by another, and then by the first again."""
    stream, memory = trial.stream(), trial.memory(1000)
    stream.fill(memory, b"\1")

    def work(_: int) -> None:
        stream.fill(memory[500:], b"\2")

    together(1, work)
    stream.fill(memory[900:], b"\3")
    needed = np.repeat(np.array([1, 2, 3], np.uint8), (500, 400, 100))
    trial.same_bytes("memory", trial.content(stream, memory), needed)
