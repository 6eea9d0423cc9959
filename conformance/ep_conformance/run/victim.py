"""Look for the earlier case that makes another one fail, by running it after ever fewer of the cases before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep_conformance.judge.outcome import Outcome, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Sequence

__all__ = ["Search"]


class Search:
    """Asks for runs of a case after others, each in a process of its own, and narrows down the others.

    found    : the fewest cases after which it failed again, and its outcome there; None as long as it did not fail
    outcome  : its outcome in the last run
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
        """Return the cases to run before it next, () at the end; `hear` takes the outcome between two calls."""
        try:
            return next(self._asking)
        except StopIteration:
            return ()

    def hear(self, outcome: Outcome) -> None:
        """Take its outcome after those cases."""
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
