"""When memory is short: budgets, drivers that refuse, giving back unused segments, and trying again."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_conformance.fixture.gate import late
from ep_conformance.fixture.order import Order
from ep_conformance.fixture.work import settled
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ep_conformance.fixture.trial import Trial

_BYTES: Final = 300_000


@contextlib.contextmanager
def _allocating_by(device: ep.Device, function: Callable[..., Any]) -> Iterator[None]:
    """Let the device allocate by another function, which is given its own one first."""
    own = device.twin.allocate  # the method whose failure is the case
    device.twin.allocate = lambda nbytes, kind: function(own, nbytes, kind)  # type: ignore[method-assign]
    try:
        yield
    finally:
        del device.twin.allocate  # the class has it


@contextlib.contextmanager
def _budget(device: ep.Device, nbytes: int) -> Iterator[None]:
    device.budget = nbytes
    try:
        yield
    finally:
        device.budget = None


def _planted(nbytes: int) -> ep.OutOfMemoryError:
    message = "the case lets this allocation fail"
    return ep.OutOfMemoryError(message, requested=nbytes)


@case()
def a_budget_is_kept(trial: Trial) -> None:
    """Beyond the budget is OutOfMemoryError with its figures; below it, and without one, the device works on."""
    stream, content = trial.stream(), trial.noise(100_000)
    memory = trial.holding(stream, content)
    trial.device.trim()
    used = settled(trial).in_use
    with _budget(trial.device, used + (1 << 20)):
        trial.equal("device.budget", trial.device.memory_info().budget, used + (1 << 20))
        for allocate in (trial.device.allocate, stream.allocate):
            try:
                allocate(2 << 20)
            except ep.OutOfMemoryError as error:
                figures = (error.requested, error.free, error.reserved)
                trial.equal("requested, free and reserved", figures, (2 << 20, 1 << 20, used))
                trial.require(str(used + (1 << 20)) in str(error), f"the message names the budget: {error}")
            else:
                trial.require(False, f"{2 << 20} bytes were allocated beyond the budget")  # noqa: FBT003
        half = trial.device.allocate(512 << 10)
        half.close()
        trial.device.allocate(1 << 20).close()  # ready segments are given back for it
        trial.require(trial.device.memory_info().reserved <= used + (1 << 20), "reserved stays within the budget")
    trial.device.allocate(2 << 20).close()
    trial.same_bytes("memory that was there", trial.content(stream, memory), content)


@case()
def a_budget_waits_for_closed_memory(trial: Trial) -> None:
    """A request that fits only when closed memory is back waits for the streams that use it, and no byte is lost."""
    stream = trial.asynchronous()
    old, new = trial.noise(_BYTES), trial.noise(_BYTES)
    seen = trial.memory(_BYTES)
    target, held = late(trial, stream, old, new)
    trial.device.trim()
    stream.copy(seen, target)
    with _budget(trial.device, trial.device.memory_info().reserved):
        target.close()
        held.open_later()
        fresh = trial.memory(_BYTES)
        trial.stream().fill(fresh, b"\xbd")
    order = Order(("copy", stream), ("the next owner's fill", None), otherwise=0xBD)
    trial.same_bytes("what was read of the closed memory", trial.content(stream, seen), new, order)


@case()
def what_lies_ready_is_given_back_when_memory_is_short(trial: Trial) -> None:
    """A driver that has no room while anything lies ready is asked again when nothing does."""
    stream, content = trial.stream(), trial.noise(60_000)
    memory = trial.holding(stream, content)
    for size in (1000, 30_000, 400_000):
        trial.device.allocate(size).close()
    settled(trial)
    refused = []

    def allocate(own: Any, nbytes: int, kind: ep.MemoryKind) -> Any:
        info = trial.device.memory_info()
        if info.reserved - nbytes > info.in_use:  # the request itself is counted as reserved
            refused.append(nbytes)
            raise _planted(nbytes)
        return own(nbytes, kind)

    with _allocating_by(trial.device, allocate):
        fresh = trial.memory(900_000)
    trial.equal("calls that were refused", len(refused), 1)
    stream.fill(fresh, b"\x11")
    trial.same_bytes("memory that was there", trial.content(stream, memory), content)
    trial.same_bytes("memory that came", trial.content(stream, fresh), np.full(900_000, 0x11, np.uint8))


@case()
def any_allocation_may_fail(trial: Trial) -> None:
    """Whichever call of the driver fails, the request is served by a second one or raises, and nothing else changes."""
    for n in range(1, 9):
        before, calls = settled(trial), [0]
        trial.device.trim()

        def allocate(own: Any, nbytes: int, kind: ep.MemoryKind, n: int = n, calls: list[int] = calls) -> Any:
            calls[0] += 1
            if calls[0] == n:
                raise _planted(nbytes)
            return own(nbytes, kind)

        with _allocating_by(trial.device, allocate):
            kept = _work_with_failures(trial)
        trial.require(calls[0] >= n, f"the driver was asked {calls[0]} times, fewer than {n}")
        stream = trial.stream()
        for memory, byte in kept:
            trial.same_bytes("memory", trial.content(stream, memory), np.full(memory.nbytes, byte, np.uint8))
            memory.close()
        trial.equal("in_use in the end", settled(trial).in_use, before.in_use)


def _work_with_failures(trial: Trial) -> list[tuple[ep.Memory, int]]:
    stream, kept = trial.asynchronous(), []
    for place, size in enumerate((100, 5000, 100, 70_000, 5000, 300, 9000, 40_000, 100, 2000)):
        allocate = stream.allocate if place % 2 else trial.device.allocate
        try:
            memory = allocate(size)
        except ep.OutOfMemoryError:
            memory = allocate(size)
        stream.fill(memory, bytes([place]))
        if place % 3:
            kept.append((memory, place))
        else:
            stream.free(memory)
    stream.synchronize()
    return kept
