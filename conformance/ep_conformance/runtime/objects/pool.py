"""The pool over a provider's memory: its counts, and when which stream may reuse freed bytes."""

from __future__ import annotations

import gc
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.fixture.order import Order
from ep_conformance.fixture.work import settled
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Bytes, Trial

_BYTES: Final = 300_000


@case()
def open_bytes_are_in_use(trial: Trial) -> None:
    """memory_info counts open memories as in use, with little more than they asked for, and not once they are closed."""
    before = settled(trial)
    sizes = (1, 100, 4096, 100_001, trial.fitting(3 << 20, copies=8))
    memories = [trial.device.allocate(size) for size in sizes]
    info = trial.device.memory_info()
    used, most = info.in_use - before.in_use, sum(size + max(size // 4, trial.device.info.alignment) for size in sizes)
    trial.require(sum(sizes) <= used <= most, f"{used} bytes are in use for {sum(sizes)}; at most {most} may be")
    trial.require(info.reserved >= info.in_use, f"reserved is {info.reserved}, in use {info.in_use}")
    trial.require(info.peak >= info.in_use, f"the peak is {info.peak}, in use {info.in_use}")
    for memory in memories:
        memory.close()
    after = settled(trial)
    trial.equal("in_use when all is closed", after.in_use, before.in_use)
    trial.equal("peak", after.peak, info.peak)


@case()
def every_allocation_is_counted_once(trial: Trial) -> None:
    """An allocation is a hit or a miss; a closed memory without work under way serves the next one of its size."""
    stream, before = trial.stream(), settled(trial)
    first = trial.device.allocate(50_001)
    stream.fill(first, b"\1")
    first.close()
    between = settled(trial)
    counted = between.hits + between.misses - before.hits - before.misses
    trial.equal("hits and misses of one allocation", counted, 1)
    trial.memory(50_001)
    after = trial.device.memory_info()
    trial.equal("hits of the second", after.hits - between.hits, 1)
    trial.equal("misses of the second", after.misses - between.misses, 0)
    trial.equal("bytes reserved for the second", after.reserved - between.reserved, 0)
    trial.memory(0)
    trial.equal("figures after allocate(0)", trial.device.memory_info()[2:], after[2:])


@case()
def trim_gives_back_what_lies_ready(trial: Trial) -> None:
    """trim() gives back all bytes that are not in use, says how many, and touches nothing that is open."""
    stream, content = trial.stream(), trial.noise(70_000)
    memory = trial.holding(stream, content)
    for size in (100, 5000, 200_000, 1 << 20):
        trial.device.allocate(size).close()
    before = settled(trial)
    trial.require(before.reserved > before.in_use, f"{before.reserved} bytes are reserved, {before.in_use} in use")
    trial.equal("trim()", trial.device.trim(), before.reserved - before.in_use)
    after = trial.device.memory_info()
    trial.equal("reserved after trim()", after.reserved, before.in_use)
    trial.equal("in use after trim()", after.in_use, before.in_use)
    trial.equal("a second trim()", trial.device.trim(), 0)
    trial.same_bytes("memory that is open", trial.content(stream, memory), content)


@case()
def reserved_stays_within_twice_the_peak(trial: Trial) -> None:
    """However sizes change, no more is reserved than twice the peak in use."""
    held: list[ep.Memory] = []
    for _ in range(400):
        held.append(trial.device.allocate(int(2 ** trial.rng.uniform(3, 18))))
        while len(held) > trial.rng.integers(1, 40):
            held.pop(int(trial.rng.integers(len(held)))).close()
        info = trial.device.memory_info()
        trial.require(info.reserved <= 2 * info.peak, f"{info.reserved} bytes are reserved, the peak is {info.peak}")
        trial.require(info.in_use <= info.reserved, f"{info.in_use} bytes are in use, {info.reserved} reserved")


@case()
def a_stream_reuses_what_it_freed_in_its_order(trial: Trial) -> None:
    """Memory that a stream frees and allocates anew holds its old bytes for earlier reads, its new ones for later."""
    for stream in trial.streams():
        first, second = trial.noise(_BYTES), trial.noise(_BYTES)
        seen = [trial.memory(_BYTES), trial.memory(_BYTES)]
        sources = [trial.holding(stream, first), trial.holding(stream, second)]
        held = gate(trial, stream)
        for source, target in zip(sources, seen, strict=True):
            memory = stream.allocate(_BYTES)
            stream.copy(memory, source)
            stream.copy(target, memory)
            stream.free(memory)
        held.open()
        order = Order(("copy before free()", stream), ("copy behind it", stream), otherwise=second)
        trial.same_bytes("what was written before free()", trial.content(stream, seen[0]), first, order)
        order = Order(("second write", stream), ("second copy", stream), otherwise=first)
        trial.same_bytes("what was written after it", trial.content(stream, seen[1]), second, order)


@case()
def freed_bytes_stay_while_the_stream_works(trial: Trial) -> None:
    """Memory that a busy stream freed keeps its bytes until the stream is past that point, whoever allocates."""
    for _ in range(3):
        stream, others = trial.asynchronous(), [trial.asynchronous(), trial.stream()]
        content = trial.noise(_BYTES)
        source, seen = trial.holding(stream, content), trial.memory(_BYTES)
        held = gate(trial, stream)
        memory = stream.allocate(_BYTES)
        stream.copy(memory, source)
        stream.copy(seen, memory)
        stream.free(memory)
        for other in others:
            for fresh in (other.allocate(_BYTES), trial.device.allocate(_BYTES)):
                other.fill(fresh, b"\xbd")
                other.free(fresh)
            other.synchronize()
        held.open()
        order = Order(("copy", stream), ("the next owner's fill", None), otherwise=0xBD)
        trial.same_bytes("what was read before free()", trial.content(stream, seen), content, order)


@case()
def freed_bytes_come_back_to_all(trial: Trial) -> None:
    """Once a stream is past its free(), the next allocation of that size gets the bytes."""
    stream = trial.asynchronous()
    before = settled(trial)
    memory = stream.allocate(77_777)
    stream.fill(memory, b"\1")
    stream.free(memory)
    stream.synchronize()
    between = trial.device.memory_info()
    trial.equal("in_use when the stream is past free()", between.in_use, before.in_use)
    trial.memory(77_777)
    trial.equal("misses of the next allocation", trial.device.memory_info().misses, between.misses)


@case()
def an_event_hands_memory_to_another_stream(trial: Trial) -> None:
    """Memory of one stream's allocate is another's after an event, and may be freed there."""
    for _ in range(2):
        first, second = trial.asynchronous(), trial.asynchronous()
        content = trial.noise(_BYTES)
        source, seen = trial.holding(first, content), trial.memory(_BYTES)
        held = gate(trial, first)
        memory = first.allocate(_BYTES)
        first.copy(memory, source)
        second.wait(first.record())
        second.copy(seen, memory)
        second.free(memory)
        for stream in (first, second, first):
            stream.fill(stream.allocate(_BYTES), b"\xbd")
        held.open()
        order = Order(("copy", second), ("the next owner's fill", None), otherwise=0xBD)
        trial.same_bytes("what the second stream read", trial.content(second, seen), content, order)


@case()
def free_refuses_what_is_not_its_own(trial: Trial) -> None:
    """Freeing a second time is ClosedError; a view is ValueError, any other object TypeError; each names free."""
    stream, content = trial.stream(), trial.noise(64)
    memory = trial.holding(stream, content)
    thing: Any = bytearray(64)
    trial.refuses("free of a view", ValueError, lambda: stream.free(memory[8:16]), "free", "view")
    trial.refuses("free of a bytearray", TypeError, lambda: stream.free(thing), "free")
    trial.same_bytes("memory that was not freed", trial.content(stream, memory), content)
    view = memory[8:16]
    stream.free(memory)
    trial.require(memory.is_closed, "memory.is_closed after free()")
    trial.refuses("a second free", ep.ClosedError, lambda: stream.free(memory), "free")
    trial.refuses("fill of freed memory", ep.ClosedError, lambda: stream.fill(memory, b"\1"), "fill")
    trial.refuses("fill of a view of it", ep.ClosedError, lambda: stream.fill(view, b"\1"), "fill")
    memory.close()


@case()
def an_old_memory_does_not_reach_the_new_one(trial: Trial) -> None:
    """A memory that was closed stays closed when its bytes are another's, and its end gives nothing back again."""
    stream, content = trial.stream(), trial.noise(9000)
    old = [trial.device.allocate(9000) for _ in range(4)]
    views = [memory[10:20] for memory in old]
    for memory in old[:2]:
        memory.close()
    for memory in old[2:]:
        stream.free(memory)
    settled(trial)
    fresh = [trial.holding(stream, content) for _ in range(4)]
    for memory in old + views:
        trial.refuses("fill of a closed memory", ep.ClosedError, partial(stream.fill, memory, b"\1"))
        memory.close()
    del old, views, memory
    gc.collect()
    for _ in range(6):
        stream.fill(trial.memory(9000), b"\xbd")
    for memory in fresh:
        trial.same_bytes("memory that came after", trial.content(stream, memory), content)


@case(kernels=True)
def free_leaves_what_a_step_holds(trial: Trial) -> None:
    """A bound step runs although its memory was freed in a stream's order; its end lets the bytes go."""
    kernel = kernel_of(trial)
    size, stream = 3000, trial.stream()
    x = kernel.data(trial, size)
    seen, before = trial.memory(4 * size), settled(trial)
    memory = stream.allocate(4 * size)
    stream.upload(memory, x.view(np.uint8))
    step = kernel.descriptor(size).on(trial.device).bind(**{kernel.operand: memory, "out": seen})
    stream.free(memory)
    for other in (stream, trial.stream()):
        for fresh in [other.allocate(4 * size) for _ in range(3)]:
            other.fill(fresh, b"\xbd")
            other.free(fresh)
    step(stream)
    kernel.check("a step whose input was freed", size, x, trial.content(stream, seen))
    step.close()
    trial.equal("in_use when the step is closed", settled(trial).in_use, before.in_use)


@case()
def threads_share_the_pool(trial: Trial) -> None:
    """Threads that allocate, write, read and give back at once keep their bytes apart."""
    streams = [trial.asynchronous() for _ in range(4)]
    faults: list[str] = []

    def work(number: int, stream: ep.Stream) -> None:
        dice = np.random.default_rng([trial.seed, number])
        for turn in range(60):
            memory = stream.allocate(int(dice.integers(1, 20_000))) if turn % 2 else trial.device.allocate(5000)
            stream.fill(memory, bytes([number * 60 + turn]))
            seen = _read(stream, memory)
            if (seen != number * 60 + turn).any():
                faults.append(f"thread {number}, turn {turn}: {memory.nbytes} bytes hold {np.unique(seen)[:4]}")
            if turn % 3:
                memory.close()
            else:
                stream.free(memory)

    threads = [threading.Thread(target=work, args=each, daemon=True) for each in enumerate(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    trial.require(not any(thread.is_alive() for thread in threads), "all threads ended within 120 s")
    trial.require(not faults, "; ".join(faults[:3]))


def _read(stream: ep.Stream, memory: ep.Memory) -> Bytes:
    host = np.zeros(memory.nbytes, np.uint8)
    stream.download(host, memory)
    stream.synchronize()
    return host


@case()
def random_blocks_keep_their_bytes(trial: Trial) -> None:
    """Blocks of random lengths on several streams keep their bytes until they are freed, closed or dropped."""
    streams = [trial.asynchronous() for _ in range(3)]
    before, live, seen = settled(trial), [], []
    for number in range(300):
        stream = streams[trial.rng.integers(3)]
        nbytes = int(2 ** trial.rng.uniform(0, 16))
        memory = stream.allocate(nbytes) if number % 2 else trial.device.allocate(nbytes)
        stream.fill(memory, bytes([number % 251]))
        live.append((memory, stream, number % 251))
        while len(live) > trial.rng.integers(1, 30):
            memory, stream, byte = live.pop(int(trial.rng.integers(len(live))))
            host = np.full(memory.nbytes, 0xEE, np.uint8)
            stream.download(host, memory)
            seen.append((host, byte))
            if number % 3 == 0:
                stream.free(memory)
            elif number % 3 == 1:
                memory.close()
    for stream in streams:
        stream.synchronize()
    for host, byte in seen:
        trial.same_bytes(f"a block of {host.size} bytes", host, np.full(host.size, byte, np.uint8))
    live.clear()
    del memory
    trial.equal("in_use in the end", settled(trial).in_use, before.in_use)
