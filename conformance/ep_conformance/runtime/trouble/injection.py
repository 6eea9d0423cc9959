"""Failures on request: one scenario runs with its n-th allocation, or its n-th enqueue, failing, for every n there is.

Injected in front of the provider: its `allocate` is replaced on the device, the stream's door on the stream. Each time the
error must be reported as documented, all memory must come back, and the same stream must work on.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np
from ep.stream import doors

import ep
from ep_conformance.fixture.gate import gate
from ep_conformance.fixture.kernel import find_kernel
from ep_conformance.judge.error import CaseError
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep.stream.doors import Onward

    from ep_conformance.fixture.trial import Trial

_SIZE: Final = 1024
_MOST: Final = 200
_DEADLINE_SECONDS: Final = 20.0
_HOST_VERBS: Final = frozenset({"record", "allocate", "free"})
"""What the host has in its hand when the verb returns: there is nothing of it that could fail later."""


class _Allocations:
    """Lets the n-th allocation that reaches the provider fail."""

    def __init__(self, device: ep.Device, fails: int) -> None:
        self._device = device
        self._allocate = device.twin.allocate
        self._fails = fails
        self.count = 0

    def __call__(self, nbytes: int, kind: ep.MemoryKind) -> Any:
        self.count += 1
        if self.count == self._fails:
            message = f"{self._device.name}: allocation {self.count} fails on request"
            raise ep.OutOfMemoryError(message, requested=nbytes)
        return self._allocate(nbytes, kind)

    def __enter__(self) -> Self:
        self._device.twin.__dict__["allocate"] = self
        return self

    def __exit__(self, *_: object) -> None:
        del self._device.twin.__dict__["allocate"]


class _Enqueues:
    """A door of a stream that lets the n-th enqueue which comes to it fail."""

    def __init__(self, stream: ep.Stream, fails: int) -> None:
        self._stream = stream
        self._fails = fails
        self.count = 0
        self.failed = ""

    def __call__(  # noqa: PLR0913, PLR0917 - what a door is given
        self, onward: Onward, stream: ep.Stream, what: Any, memories: Any, scalars: Any, run: Any
    ) -> Any:
        self.count += 1
        if self.count != self._fails:
            return onward(stream, what, memories, scalars, run)
        self.failed = str(what)
        message = f"{self.failed}, enqueue {self.count} of the scenario, fails on request"
        error = ep.DeviceError(message, provider="injection", call=self.failed, code=self.count)
        if self.failed in _HOST_VERBS:
            raise error

        def fail(*_: Any) -> Any:
            raise error

        return onward(stream, what, memories, scalars, fail)

    def __enter__(self) -> Self:
        doors.put(self._stream, "fault", self)
        return self

    def __exit__(self, *_: object) -> None:
        doors.remove(self._stream, "fault")


def _scenario(trial: Trial, stream: ep.Stream, held: contextlib.ExitStack) -> None:
    """Allocate, upload, launch, copy, fill, record, capture, replay, close, download; whatever is made is `held`."""

    def memory() -> ep.Memory:
        return held.enter_context(contextlib.closing(trial.device.allocate(4 * _SIZE)))

    kernel = find_kernel(trial.device)
    x = np.linspace(1, 2, _SIZE, dtype=np.float32)
    source, middle, result, spare = memory(), memory(), memory(), memory()
    stream.upload(source, x)
    if kernel is None:
        stream.copy(middle, source)
    else:
        primitive = kernel.descriptor(_SIZE).on(trial.device)
        primitive(stream, **{kernel.operand: source, "out": middle})
        step = held.enter_context(contextlib.closing(primitive.bind(**{kernel.operand: source, "out": spare})))
        step(stream)
    stream.fill(spare, b"\x55")
    with stream.capture() as graph:
        stream.copy(result, middle)
        stream.copy(middle, source)
    held.callback(graph.close)
    graph.launch(stream)
    event = stream.record()
    there = held.enter_context(contextlib.closing(stream.allocate(4 * _SIZE)))
    stream.copy(there, middle)
    source.close()
    seen, filled = np.empty(_SIZE, np.float32), np.empty(4 * _SIZE, np.uint8)
    carried = np.empty(_SIZE, np.float32)
    stream.download(seen, result)
    stream.download(filled, spare)
    stream.download(carried, there)
    stream.free(there)
    event.synchronize(timeout=_DEADLINE_SECONDS)
    stream.synchronize(timeout=_DEADLINE_SECONDS)
    if kernel is not None:
        kernel.check("the scenario", _SIZE, x, seen.view(np.uint8))
    trial.same_bytes("what was filled", filled, np.full(4 * _SIZE, 0x55, np.uint8))
    trial.same_bytes("what was copied", carried.view(np.uint8), x.view(np.uint8))


def _in_use(trial: Trial) -> int:
    trial.device.synchronize()
    return trial.device.memory_info().in_use


def _modes(trial: Trial) -> Iterator[ep.Stream]:
    """Yield one stream of each mode, not also the habit, which is one of them."""
    yield from {stream.is_synchronous: stream for stream in trial.streams()}.values()


def _works(trial: Trial, stream: ep.Stream) -> None:
    with contextlib.ExitStack() as held:
        _scenario(trial, stream, held)


def _numbers(trial: Trial) -> Iterator[int]:
    yield from range(1, _MOST)
    message = f"after {_MOST} failures on request the scenario still does not pass on {trial.device.name}"
    raise CaseError(message)


@case()
def nth_allocation_fails(trial: Trial) -> None:
    """Whichever allocation of a scenario fails, it is healed or OutOfMemoryError; all memory comes back, all works on."""
    for stream in _modes(trial):
        _works(trial, stream)
        before = _in_use(trial)
        for n in _numbers(trial):
            trial.device.trim()
            with _Allocations(trial.device, n) as allocations, contextlib.ExitStack() as held:
                try:
                    _scenario(trial, stream, held)
                except ep.OutOfMemoryError as error:
                    trial.require(error.requested, f"error.requested of allocation {n} is {error.requested}")
                    trial.require(error.reserved is not None, f"error.reserved of allocation {n} is said")
            trial.equal(f"memory_info().in_use after allocation {n} failed", _in_use(trial), before)
            _works(trial, stream)
            if allocations.count < n:
                break


@case()
def nth_enqueue_fails(trial: Trial) -> None:
    """Whichever enqueue fails, its DeviceError says which it was; all memory comes back, and the stream works on."""
    for stream in _modes(trial):
        _works(trial, stream)
        before = _in_use(trial)
        for n in _numbers(trial):
            enqueued = stream._sequence  # noqa: SLF001 - what the stream numbered so far
            error = None
            with contextlib.ExitStack() as held, _Enqueues(stream, n) as enqueues:
                try:
                    _scenario(trial, stream, held)
                except ep.DeviceError as caught:
                    error = caught
            if enqueues.failed:
                _check_report(trial, stream, enqueues, error, enqueued + n)
            with contextlib.suppress(ep.DeviceError):  # an event that raised it has left it to the stream
                stream.synchronize(timeout=_DEADLINE_SECONDS)
            stream.synchronize(timeout=_DEADLINE_SECONDS)
            trial.equal(f"memory_info().in_use after enqueue {n} failed", _in_use(trial), before)
            _works(trial, stream)
            if not enqueues.failed:
                break


def _check_report(
    trial: Trial, stream: ep.Stream, enqueues: _Enqueues, error: ep.DeviceError | None, sequence: int
) -> None:
    what = f"the failed {enqueues.failed}"
    if error is None:
        message = f"{what} raised nothing on {stream.name}"
        raise CaseError(message)
    trial.equal(f"error.provider of {what}", error.provider, "injection")
    if enqueues.failed not in _HOST_VERBS:
        trial.equal(f"error.op of {what}", error.op, enqueues.failed)
        trial.equal(f"error.stream of {what}", error.stream, stream.name)
        trial.equal(f"error.sequence of {what}", error.sequence, sequence)


@case()
def what_was_closed_heals_a_failed_allocation(trial: Trial) -> None:
    """An allocation that does not fit waits for memory that was closed with work under way, and is tried once more."""
    for stream in trial.streams():
        content = trial.noise(40_000)
        memory, seen = trial.holding(stream, content), trial.memory(40_000)
        held = gate(trial, stream)
        stream.copy(seen, memory)
        trial.device.trim()
        memory.close()
        held.open_later()
        with _Allocations(trial.device, 1) as allocations:
            other = trial.memory(100_000)
        trial.require(allocations.count > 0, "the provider was asked for 100000 bytes")
        stream.fill(other, b"\xbd")
        trial.same_bytes("what was read from the closed memory", trial.content(stream, seen), content)
