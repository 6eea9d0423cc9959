"""Ops that begin and end memories: of the device, and in the order of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ep_conformance.programs.op import Model, Op
from ep_conformance.programs.order import Span

if TYPE_CHECKING:
    from ep_conformance.programs.stage import Stage

__all__ = ["Allocate", "AllocateHere", "Close", "FreeHere"]


@dataclass(frozen=True)
class Allocate(Op):
    """The host allocates memory of a device: any stream may use it at once."""

    memory: str
    nbytes: int
    device: int = 0

    def predict(self, model: Model) -> None:
        model.bytes[self.memory] = np.zeros(self.nbytes, np.uint8)

    def perform(self, stage: Stage) -> None:
        stage.keep(self.memory, stage.devices[self.device].allocate(self.nbytes))

    def __str__(self) -> str:
        device = "device" if not self.device else f"devices[{self.device}]"
        return f"{self.memory} = {device}.allocate({self.nbytes})"


@dataclass(frozen=True)
class AllocateHere(Op):
    """A stream allocates memory, which is there when the stream gets there."""

    memory: str
    nbytes: int

    @property
    def writes(self) -> tuple[Span, ...]:
        return (Span(self.memory, 0, self.nbytes),)

    def predict(self, model: Model) -> None:
        model.bytes[self.memory] = np.zeros(self.nbytes, np.uint8)

    def perform(self, stage: Stage) -> None:
        stage.keep(self.memory, stage.streams[self.actor].allocate(self.nbytes))

    def __str__(self) -> str:
        return f"{self.memory} = {self.actor}.allocate({self.nbytes})"


@dataclass(frozen=True)
class FreeHere(Op):
    """A stream gives memory back when it gets there."""

    memory: str
    nbytes: int

    @property
    def writes(self) -> tuple[Span, ...]:
        return (Span(self.memory, 0, self.nbytes),)

    def perform(self, stage: Stage) -> None:
        stage.streams[self.actor].free(stage.memories[self.memory])

    def __str__(self) -> str:
        return f"{self.actor}.free({self.memory})"


@dataclass(frozen=True)
class Close(Op):
    """The host closes memory, even while work uses it."""

    memory: str

    def perform(self, stage: Stage) -> None:
        stage.memories[self.memory].close()

    def __str__(self) -> str:
        return f"{self.memory}.close()"
