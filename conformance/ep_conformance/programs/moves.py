"""Ops that move bytes: uploads, downloads, copies, fills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ep_conformance.programs.op import Model, Op, noise

if TYPE_CHECKING:
    from ep_conformance.programs.order import Span
    from ep_conformance.programs.stage import Stage

__all__ = ["Copy", "Download", "Fill", "Upload", "UploadNoise"]


@dataclass(frozen=True)
class UploadNoise(Op):
    """An upload of bytes to which only the stream has a reference."""

    dst: Span
    seed: int

    @property
    def writes(self) -> tuple[Span, ...]:
        return (self.dst,)

    def predict(self, model: Model) -> None:
        model[self.dst] = noise(self.dst.nbytes, self.seed, model.unit)

    def perform(self, stage: Stage) -> None:
        stage.streams[self.actor].upload(stage.memory(self.dst), noise(self.dst.nbytes, self.seed, stage.model.unit))

    def __str__(self) -> str:
        return f"{self.actor}.upload({self.dst}, noise({self.dst.nbytes}, {self.seed}))"


@dataclass(frozen=True)
class _Move(Op):
    """Bytes that go from one place to another."""

    dst: Span
    src: Span

    @property
    def reads(self) -> tuple[Span, ...]:
        return (self.src,)

    @property
    def writes(self) -> tuple[Span, ...]:
        return (self.dst,)

    def predict(self, model: Model) -> None:
        model[self.dst] = model[self.src]


@dataclass(frozen=True)
class Upload(_Move):
    """An upload of a host buffer."""

    def perform(self, stage: Stage) -> None:
        stage.streams[self.actor].upload(stage.memory(self.dst), stage.host(self.src))

    def __str__(self) -> str:
        return f"{self.actor}.upload({self.dst}, {self.src})"


@dataclass(frozen=True)
class Download(_Move):
    """A download into a host buffer."""

    def perform(self, stage: Stage) -> None:
        stage.streams[self.actor].download(stage.host(self.dst), stage.memory(self.src))

    def __str__(self) -> str:
        return f"{self.actor}.download({self.dst}, {self.src})"


@dataclass(frozen=True)
class Copy(_Move):
    """A copy between memories, or inside one."""

    def perform(self, stage: Stage) -> None:
        stage.streams[self.actor].copy(stage.memory(self.dst), stage.memory(self.src))

    def __str__(self) -> str:
        return f"{self.actor}.copy({self.dst}, {self.src})"


@dataclass(frozen=True)
class Fill(Op):
    """A fill with a pattern."""

    dst: Span
    pattern: bytes

    @property
    def writes(self) -> tuple[Span, ...]:
        return (self.dst,)

    def predict(self, model: Model) -> None:
        model[self.dst] = np.resize(np.frombuffer(self.pattern, np.uint8), self.dst.nbytes)

    def perform(self, stage: Stage) -> None:
        stage.streams[self.actor].fill(stage.memory(self.dst), self.pattern)

    def __str__(self) -> str:
        return f"{self.actor}.fill({self.dst}, bytes.fromhex('{self.pattern.hex()}'))"
