"""An Op is one line of a program: the spans that it reads and writes, its effect on the model, its call on a device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ep_conformance.programs.order import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ep_conformance.fixture.trial import Bytes
    from ep_conformance.programs.stage import Stage

__all__ = ["Model", "Op", "noise"]


def noise(nbytes: int, seed: int, unit: int = 1) -> Bytes:
    """Return random bytes; in units of 4 they are float32 numbers from 1 to 2, which every kernel takes."""
    rng = np.random.default_rng([nbytes, seed])
    if unit == 1:
        return rng.integers(0, 256, nbytes, dtype=np.uint8)
    return rng.uniform(1, 2, nbytes // 4).astype(np.float32).view(np.uint8)


class Model:
    """What every byte must be: each op is done before the next.

    bytes   : of each memory and host buffer, by name
    kernel  : computes the kernel's result from the bytes of a float32 vector
    """

    def __init__(self, kernel: Callable[[Bytes], Bytes], unit: int) -> None:
        self.bytes: dict[str, Bytes] = {}
        self.kernel = kernel
        self.unit = unit

    def __getitem__(self, span: Span) -> Bytes:
        return self.bytes[span.place][span.start : span.stop]

    def __setitem__(self, span: Span, content: Bytes) -> None:
        self.bytes[span.place][span.start : span.stop] = content


@dataclass(frozen=True)
class Op(ABC):
    """One line of a program, done by a stream or by the host."""

    actor: str

    @property
    def reads(self) -> tuple[Span, ...]:
        """What it reads."""
        return ()

    @property
    def writes(self) -> tuple[Span, ...]:
        """What it writes."""
        return ()

    def predict(self, model: Model) -> None:
        """Change the model as the op changes the bytes. Default: nothing changes."""

    @abstractmethod
    def perform(self, stage: Stage) -> None:
        """Do it."""

    @abstractmethod
    def __str__(self) -> str:
        """Return it as a line of code."""

    def lines(self) -> Iterator[str]:
        """Yield it as lines of code."""
        yield str(self)

    def rebound(self, binding: Mapping[str, str]) -> Op:
        """Return the same op on other places."""
        spans: dict[str, Any] = {}
        for field in fields(self):
            span = getattr(self, field.name)
            if isinstance(span, Span) and span.place in binding:
                spans[field.name] = span.at(binding[span.place])
        return replace(self, **spans)
