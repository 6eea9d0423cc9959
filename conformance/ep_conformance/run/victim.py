"""Look for the case behind which another one fails, by running it behind ever fewer of those that ran before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep_conformance.judge.outcome import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Sequence

__all__ = ["Search"]


class Search:
    """Asks for runs of a case behind others, each in a process of its own, and narrows down the others.

    found    : the fewest cases behind which it failed again, and what it showed there; None as long as it did not
    outcome  : what it showed when it ran last
    """

    def __init__(self, before: Sequence[str], culprits: Collection[str]) -> None:
        """Begin a search.

        before    : the cases that ran before it when it failed, in order
        culprits  : those that made others fail, which are tried first
        """
        self.found: tuple[tuple[str, ...], Outcome] | None = None
        self.outcome = Outcome(Status.PASS)
        known = tuple(identity for identity in before if identity in culprits)
        self._asking = self._ask(tuple(before), known)

    def next(self) -> tuple[str, ...]:
        """Return the cases to run it behind next, () when all is known; between two calls `hear` says what it showed."""
        try:
            return next(self._asking)
        except StopIteration:
            return ()

    def hear(self, outcome: Outcome) -> None:
        """Hear what it showed behind those cases."""
        self.outcome = outcome

    def _ask(self, before: tuple[str, ...], known: tuple[str, ...]) -> Generator[tuple[str, ...]]:
        if known:
            yield known
            if self._fails(known):
                return
        yield before
        if not self._fails(before):
            return
        while len(before) > 1:
            half = len(before) // 2
            for part in (before[half:], before[:half]):
                yield part
                if self._fails(part):
                    before = part
                    break
            else:
                return  # only several of them together

    def _fails(self, behind: tuple[str, ...]) -> bool:
        if self.outcome.status in {Status.PASS, Status.MISSING}:
            return False
        self.found = behind, self.outcome
        return True
