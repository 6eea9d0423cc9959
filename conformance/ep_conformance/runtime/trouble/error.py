"""Errors: the device reports them, and works on afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_conformance.judge.error import CaseError
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_HUGE = 1 << 60


@case()
def out_of_memory_is_reported(trial: Trial) -> None:
    """An allocation that cannot fit is OutOfMemoryError, which is MemoryError and names the requested bytes."""
    try:
        trial.memory(_HUGE)
    except ep.OutOfMemoryError as error:
        trial.require(isinstance(error, MemoryError), "OutOfMemoryError is a MemoryError")
        trial.equal("error.requested", error.requested, _HUGE)
        return
    message = f"allocate({_HUGE}) raised nothing, needed OutOfMemoryError"
    raise CaseError(message)


@case()
def out_of_memory_leaves_the_device_working(trial: Trial) -> None:
    """After OutOfMemoryError the same device allocates and computes."""
    for stream in trial.streams():
        sent = trial.noise(5000)
        memory = trial.holding(stream, sent)
        for _ in range(3):
            trial.refuses("allocate(1 EiB)", ep.OutOfMemoryError, lambda: trial.device.allocate(_HUGE))
        other = trial.memory(5000)
        stream.copy(other, memory)
        trial.same_bytes("memory", trial.content(stream, other), sent)


@case()
def wrong_arguments_are_refused_by_name(trial: Trial) -> None:
    """What is no memory or no stream is TypeError or ValueError, naming the operation and the argument."""
    stream, memory = trial.stream(), trial.memory(8)
    thing: Any = bytearray(8)
    trial.refuses("upload into a bytearray", TypeError, lambda: stream.upload(thing, b"12345678"), "upload", "dst")
    trial.refuses(
        "download from a bytearray", TypeError, lambda: stream.download(bytearray(8), thing), "download", "src"
    )
    trial.refuses("copy from a bytearray", TypeError, lambda: stream.copy(memory, thing), "copy", "src")
    trial.refuses("fill of a bytearray", TypeError, lambda: stream.fill(thing, b"\0"), "fill", "dst")


@case()
def refused_calls_enqueue_nothing(trial: Trial) -> None:
    """A verb that raises leaves memory and stream as they were."""
    for stream in trial.streams():
        content = trial.noise(64)
        memory, other = trial.holding(stream, content), trial.memory(32)
        attempts = (
            lambda: stream.upload(memory, bytes(63)),  # noqa: B023 - called in this turn of the loop
            lambda: stream.copy(memory, other),  # noqa: B023
            lambda: stream.fill(memory[0:7], b"ab"),  # noqa: B023
            lambda: stream.download(bytearray(3), memory),  # noqa: B023
        )
        for attempt in attempts:
            trial.refuses("a verb with unlike lengths", ValueError, attempt)
        trial.require(stream.is_idle, "stream.is_idle after refused verbs")
        trial.same_bytes("memory", trial.content(stream, memory), content)


@case()
def unsupported_names_every_reason(trial: Trial) -> None:
    """A descriptor that nothing accepts is UnsupportedError, which is NotImplementedError and lists the reasons."""

    class Unheard(ep.Descriptor):
        """A family that no provider has."""

        __slots__ = ()
        family = "unheard"
        roles = ep.Roles(ep.Role.input("x"), ep.Role.output("out"))

        def __init__(self) -> None:
            spec = ep.TensorSpec("float32", (4,))
            self._freeze("-", (spec, spec))

    try:
        Unheard().on(trial.device)
    except ep.UnsupportedError as error:
        trial.require(isinstance(error, NotImplementedError), "UnsupportedError is a NotImplementedError")
        trial.require(error.reasons, "error.reasons is not empty")
        return
    message = "a descriptor of an unknown family was accepted"
    raise CaseError(message)
