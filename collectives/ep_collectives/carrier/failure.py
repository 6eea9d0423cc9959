"""Why a communicator is broken, and the errors that say so."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ep.errors import CommunicatorError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import ep

__all__ = ["Failure", "Part", "named"]


class Part(NamedTuple):
    """One rank's part in one collective, as errors name it.

    number : of the collective at this rank
    """

    rank: int
    number: int
    collective: ep.Collective

    def __str__(self) -> str:
        return f"{self.collective.title}, number {self.number} of rank {self.rank}"


class Failure(NamedTuple):
    """Why a communicator is broken, and whose doing it is."""

    sentence: str
    blamed: tuple[int, ...]

    def error(self, rank: int, part: Part | None = None) -> CommunicatorError:
        """Return it as a new error of one rank."""
        what, number = ("", 0) if part is None else (part.collective.title, part.number)
        where = f"communicator of rank {rank}" if part is None else str(part)
        message = f"{where}: {self.sentence}; the communicator is broken: split(living) makes one of the living"
        return CommunicatorError(message, rank=rank, collective=what, sequence=number, blamed=self.blamed)


def named(ranks: Sequence[int]) -> str:
    """Return ranks in words: "rank 1", "ranks 1, 2"."""
    return f"rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}"
