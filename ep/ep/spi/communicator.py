"""What carries collectives: a group that ranks join, and the communicator of one rank."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import ep
    from ep.errors import CommunicatorError
    from ep.ground.ledger import Ledger
    from ep.work.descriptor import Descriptor
    from ep.work.implementation import Implementation

    Run = Callable[[Any, Any, Any], Any]

__all__ = ["Communicator", "Group"]


class Group(ABC):
    """One rank's place among the ranks that will communicate, before it has a device.

    rank : this rank's number, from 0
    size : how many ranks there are
    """

    rank: int
    size: int

    @abstractmethod
    def join(self, device: ep.Device) -> Communicator:
        """Return this rank's communicator. Does not wait for the other ranks. Raises ValueError if it has joined already."""


class Communicator(ABC):
    """One rank's end of a carrier; `ep.Communicator` holds it as its `twin`. EP has checked all arguments.

    The implementations of its table get it in place of a device: `create(descriptor, communicator, None)`. Collectives
    meet by number. A rank counts them where they are launched, also if a Worker runs them later: the object that a
    kernel's `launch` is, and that its `bind` returns, has a method `numbered(stream)`, which EP calls there. It takes the
    number and returns the run. Called itself, the object takes its number then.

    rank, size : as of the group
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank = rank
        self.size = size

    # What a carrier must write.

    @property
    @abstractmethod
    def implementations(self) -> Mapping[type[Descriptor], tuple[Implementation, ...]]:
        """The capability table: collective -> implementations, best first."""

    @property
    @abstractmethod
    def error(self) -> CommunicatorError | None:
        """Why the communicator is broken, as a new exception; None while it works. Never waits."""

    @property
    @abstractmethod
    def living(self) -> tuple[int, ...]:
        """The ranks that are not known to have closed their communicators or to have failed to come. Never waits."""

    @abstractmethod
    def split(self, ranks: Sequence[int]) -> Communicator:
        """Return a communicator of some of its ranks, this one among them, numbered in the order given.

        Works on a broken one, too. The k-th split of the same ranks is one communicator. Does not wait for them.
        """

    @abstractmethod
    def abort(self, reason: str) -> None:
        """Break the communicator at every rank; collectives under way end with an error. From any thread."""

    @abstractmethod
    def close(self) -> None:
        """Launch nothing more; what was launched goes on. Idempotent. Raises nothing."""

    # What a carrier may write.

    def begin(self) -> None:
        """Hold back what this thread launches from here on, until `end`. Default: nothing, each goes its way at once."""

    def end(self) -> Iterable[tuple[Ledger, Run]]:
        """Return, for each stream that collectives were launched on since `begin`, the function that runs all of them.

        Where it is interrupted, EP calls it again.
        """
        return ()

    def forget(self, run: Run) -> None:
        """Take notice that a function of `end` will not be called: its stream did not take it. `abort` follows. Default: nothing."""
