"""Saboteurs of random fills: states that are not what the stream made of them, words that go to the wrong elements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ep_conformance.saboteurs.kernel import ArrayKernel
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.stream import bytes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["DrawsTheSameAgain", "RandomKernel", "ReadsTheStateEarly"]


class RandomKernel(ArrayKernel):
    """A kernel that treats random fills in its own way, and all others as the honest one does."""

    @property
    def is_random(self) -> bool:
        return self.descriptor.family == "random_fill"


@killed_by("runtime/random/launches-draw-new-numbers")
class DrawsTheSameAgain(RandomKernel):
    """Leave the state of a generator as it was."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        before = self.array(operands, "state").copy() if self.is_random else None
        super().run(cpu, operands)
        if before is not None:
            self.array(operands, "state")[...] = before


@killed_by("runtime/random/state-advances-in-stream-order")
class ReadsTheStateEarly(RandomKernel):
    """Read the state of a generator when a launch is enqueued, not when the stream gets there."""

    def launch(self, stream: ep.spi.Stream, memories: tuple[ep.Memory, ...], scalars: tuple[Any, ...]) -> None:
        if self.is_random:
            self._early = np.frombuffer(bytes_of(memories[0]).host(), np.uint64).copy()
        super().launch(stream, memories, scalars)

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.is_random:
            self.array(operands, "state")[...] = self._early
        super().run(cpu, operands)
