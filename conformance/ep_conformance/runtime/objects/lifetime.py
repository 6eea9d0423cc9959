"""Lifetimes: objects that are closed or dropped while the device still works on them."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Final

import numpy as np

from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.fixture.order import Order
from ep_conformance.runtime import case

if TYPE_CHECKING:
    import ep
    from ep_conformance.fixture.gate import Gate
    from ep_conformance.fixture.order import Work
    from ep_conformance.fixture.trial import Bytes, Trial

_REUSE: Final[Work] = ("the next owner's fill", None)


def _crowd(trial: Trial, nbytes: int) -> None:
    """Take and overwrite memory of a size again and again, so that bytes that were given back too early are changed."""
    other = trial.stream()
    for _ in range(6):
        memory = trial.memory(nbytes)
        other.fill(memory, b"\xbd")
    other.synchronize()


@case()
def close_under_load_keeps_the_bytes(trial: Trial) -> None:
    """Memory closed while enqueued work still reads it holds its bytes until that work is done."""
    for _ in range(3):
        stream = trial.asynchronous()
        content = trial.noise(300_000)
        memory, seen = trial.holding(stream, content), trial.memory(content.nbytes)
        held = gate(trial, stream)
        stream.copy(seen, memory)
        memory.close()
        _crowd(trial, content.nbytes)
        held.open()
        order = Order(("copy", stream), _REUSE, otherwise=0xBD)
        trial.same_bytes("what was read after close()", trial.content(stream, seen), content, order)


@case()
def drop_under_load_keeps_the_bytes(trial: Trial) -> None:
    """Memory dropped without close() while work reads it holds its bytes until that work is done."""
    for _ in range(3):
        stream, seen = trial.asynchronous(), trial.memory(300_000)
        content, held = _enqueue_and_drop(trial, stream, seen)
        gc.collect()
        _crowd(trial, content.nbytes)
        held.open()
        order = Order(("copy", stream), _REUSE, otherwise=0xBD)
        trial.same_bytes("what was read after the drop", trial.content(stream, seen), content, order)


def _enqueue_and_drop(trial: Trial, stream: ep.Stream, seen: ep.Memory) -> tuple[Bytes, Gate]:
    content = trial.noise(300_000)
    memory = trial.device.allocate(content.nbytes)
    stream.upload(memory, content)
    held = gate(trial, stream)
    stream.copy(seen, memory)
    return content, held


@case()
def another_streams_work_counts(trial: Trial) -> None:
    """Memory closed by one thread of work is kept while any stream of the device may still read it."""
    reader, owner = trial.asynchronous(), trial.stream()
    content = trial.noise(300_000)
    memory, seen = trial.holding(owner, content), trial.memory(content.nbytes)
    held = gate(trial, reader)
    reader.copy(seen, memory)
    owner.synchronize()
    memory.close()
    _crowd(trial, content.nbytes)
    held.open()
    order = Order(("copy", reader), _REUSE, otherwise=0xBD)
    trial.same_bytes("what the other stream read", trial.content(reader, seen), content, order)


@case()
def dropped_streams_finish(trial: Trial) -> None:
    """A stream that is dropped with work under way does that work."""
    content, memories = trial.noise(50_000), [trial.memory(50_000) for _ in range(4)]
    source = trial.holding(trial.stream(), content)
    for memory in memories:
        stream = trial.unkept()
        held = gate(trial, stream)
        stream.copy(memory, source)
        event = stream.record()
        del stream
        gc.collect()
        held.open_later()
        event.synchronize()
        del event
    reader = trial.stream()
    for memory in memories:
        trial.same_bytes("memory of a dropped stream", trial.content(reader, memory), content)


@case()
def streams_dropped_with_work_under_way_finish(trial: Trial) -> None:
    """A stream without references, not even from an event, still does its work; device.synchronize() waits for it."""
    content, memory = trial.noise(50_000), trial.memory(50_000)
    source = trial.holding(trial.stream(), content)
    stream = trial.unkept()
    held = gate(trial, stream)
    stream.copy(memory, source)
    del stream
    gc.collect()
    held.open_later()
    trial.device.synchronize()
    trial.same_bytes("memory of a dropped stream", trial.content(trial.stream(), memory), content)


@case()
def allocate_and_close_can_go_on(trial: Trial) -> None:
    """Three hundred times 16 MiB, less on a small device, each used and closed, fit where not all can be at once."""
    stream, nbytes = trial.stream(), trial.fitting(16 << 20, copies=8)
    for place in range(300):
        memory = trial.device.allocate(nbytes)
        stream.fill(memory[memory.nbytes - 64 :], bytes([place % 256]))
        memory.close()
    last = trial.memory(64)
    stream.fill(last, b"\x11")
    trial.same_bytes("memory", trial.content(stream, last), np.full(64, 0x11, np.uint8))


@case()
def host_targets_are_kept(trial: Trial) -> None:
    """The target of a download may be dropped by its caller: the device still has somewhere to write."""
    for stream in trial.streams():
        memory = trial.holding(stream, trial.noise(400_000))
        held = gate(trial, stream)
        for _ in range(8):
            stream.download(np.zeros(400_000, np.uint8), memory)
        gc.collect()
        guard = [np.full(400_000, 7, np.uint8) for _ in range(8)]
        held.open()
        stream.synchronize()
        for block in guard:
            trial.require((block == 7).all(), "memory of the host that was free again is not written")  # noqa: PLR2004


@case(kernels=True)
def bound_steps_hold_their_memory(trial: Trial) -> None:
    """A bound step runs although its memories were closed; close() of the step lets them go."""
    kernel = kernel_of(trial)
    size, stream = 3000, trial.stream()
    x = kernel.data(trial, size)
    memory, seen = trial.holding(stream, x.view(np.uint8)), trial.memory(4 * size)
    step = kernel.descriptor(size).on(trial.device).bind(**{kernel.operand: memory, "out": seen})
    memory.close()
    _crowd(trial, 4 * size)
    step(stream)
    kernel.check("a step whose input was closed", size, x, trial.content(stream, seen))
    step.close()
    step.close()
