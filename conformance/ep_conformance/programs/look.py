"""A Look is a comparison of a program's bytes with its model, a MismatchError says what it found where they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ep_conformance.judge.error import CaseError

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Bytes
    from ep_conformance.programs.op import Op
    from ep_conformance.programs.order import Span

__all__ = ["Look", "MismatchError"]


class Look(NamedTuple):
    """Where bytes are compared, and by which op; None for the end of the program."""

    span: Span
    op: Op | None = None


class MismatchError(CaseError):
    """Bytes of a program that differ from its model."""

    def __init__(self, message: str, look: Look, given: Bytes) -> None:
        super().__init__(message)
        self.look = look
        self.given = given.copy()
