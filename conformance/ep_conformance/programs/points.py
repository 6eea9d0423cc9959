"""Ops that order others: events, waits of streams and of the host, host callbacks, and stalls that make room for races."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ep_conformance.programs.look import Look
from ep_conformance.programs.op import Model, Op, noise

if TYPE_CHECKING:
    from ep_conformance.programs.order import Span
    from ep_conformance.programs.stage import Stage

__all__ = [
    "DEADLINE_SECONDS",
    "CallRead",
    "CallWrite",
    "Record",
    "Renew",
    "Scribble",
    "Stall",
    "Synchronize",
    "SynchronizeEvent",
    "Wait",
]

DEADLINE_SECONDS: Final = 10.0
"""How long the host waits for anything in a program before that fails."""


@dataclass(frozen=True)
class Record(Op):
    """An event at this point of a stream."""

    event: str

    def perform(self, stage: Stage) -> None:
        stage.events[self.event] = stage.streams[self.actor].record()

    def __str__(self) -> str:
        return f"{self.event} = {self.actor}.record()"


@dataclass(frozen=True)
class Wait(Op):
    """A stream waits for an event."""

    event: str

    def perform(self, stage: Stage) -> None:
        if stage.streams[self.actor].is_synchronous:
            stage.open_gates()
        stage.streams[self.actor].wait(stage.events[self.event])

    def __str__(self) -> str:
        return f"{self.actor}.wait({self.event})"


@dataclass(frozen=True)
class Stall(Op):
    """A stream stops until the host waits for something, so that all work that may overtake it does."""

    def perform(self, stage: Stage) -> None:
        stage.stall(self.actor)

    def __str__(self) -> str:
        return f"stall({self.actor})"


@dataclass(frozen=True)
class Synchronize(Op):
    """The host waits for a stream."""

    stream: str

    def perform(self, stage: Stage) -> None:
        stage.open_gates()
        stage.streams[self.stream].synchronize(timeout=DEADLINE_SECONDS)
        stage.look(self.stream)

    def __str__(self) -> str:
        return f"{self.stream}.synchronize()"


@dataclass(frozen=True)
class SynchronizeEvent(Op):
    """The host waits for an event."""

    event: str

    def perform(self, stage: Stage) -> None:
        stage.open_gates()
        stage.events[self.event].synchronize(timeout=DEADLINE_SECONDS)

    def __str__(self) -> str:
        return f"{self.event}.synchronize()"


@dataclass(frozen=True)
class Renew(Op):
    """The host closes a stream, which waits for its work, and makes another in its place."""

    stream: str

    def perform(self, stage: Stage) -> None:
        stage.open_gates()
        stage.renew(self.stream)

    def __str__(self) -> str:
        return f"{self.stream}.close(); {self.stream} = device.stream(...)"


@dataclass(frozen=True)
class Scribble(Op):
    """The host looks at a host buffer, and writes into it."""

    dst: Span
    seed: int

    @property
    def reads(self) -> tuple[Span, ...]:
        return (self.dst,)

    @property
    def writes(self) -> tuple[Span, ...]:
        return (self.dst,)

    def perform(self, stage: Stage) -> None:
        stage.compare(str(self.dst), stage.host(self.dst), stage.model[self.dst], Look(self.dst, self))
        stage.model[self.dst] = stage.host(self.dst)[:] = noise(self.dst.nbytes, self.seed, stage.model.unit)

    def __str__(self) -> str:
        return f"check({self.dst}); {self.dst} = noise({self.dst.nbytes}, {self.seed})"


@dataclass(frozen=True)
class CallWrite(Op):
    """A host callback that writes into a host buffer."""

    dst: Span
    seed: int

    @property
    def writes(self) -> tuple[Span, ...]:
        return (self.dst,)

    def predict(self, model: Model) -> None:
        model[self.dst] = noise(self.dst.nbytes, self.seed, model.unit)

    def perform(self, stage: Stage) -> None:
        buffer, content = stage.host(self.dst), noise(self.dst.nbytes, self.seed, stage.model.unit)

        def write() -> None:
            buffer[:] = content

        stage.streams[self.actor].call(write)

    def __str__(self) -> str:
        return f"{self.actor}.call(lambda: put({self.dst}, noise({self.dst.nbytes}, {self.seed})))"


@dataclass(frozen=True)
class CallRead(Op):
    """A host callback that looks at a host buffer."""

    src: Span

    @property
    def reads(self) -> tuple[Span, ...]:
        return (self.src,)

    def perform(self, stage: Stage) -> None:
        buffer, seen = stage.host(self.src), stage.sighting(self.actor, Look(self.src, self))

        def read() -> None:
            seen[:] = buffer

        stage.streams[self.actor].call(read)

    def __str__(self) -> str:
        return f"{self.actor}.call(lambda: check({self.src}))"
