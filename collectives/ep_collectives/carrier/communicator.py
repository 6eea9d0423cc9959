"""One rank's end of a carrier: its numbers, what a group holds back, and the streams that it works on."""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections import defaultdict
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar

from ep.errors import ClosedError

import ep
from ep_collectives.carrier.courier import Courier
from ep_collectives.carrier.launch import Task, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    Perform = Callable[[Sequence[Task], ep.spi.Stream], None]

__all__ = ["CarriedCommunicator"]


class CarriedCommunicator(ep.spi.Communicator):
    """What every carrier's communicator does that works on threads of EP.

    table : the implementations
    """

    table: ClassVar[Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]]
    courier_type: ClassVar[type[Courier]] = Courier

    def __init__(self, rank: int, size: int, device: ep.Device) -> None:
        super().__init__(rank, size)
        self.device = device
        self._courier = self.courier_type(device, rank)
        self._all = tuple(range(size))
        self._numbers = itertools.count(1)
        self._pairs: defaultdict[tuple[int, int], Any] = defaultdict(partial(itertools.count, 1))
        self._splits: defaultdict[tuple[int, ...], Any] = defaultdict(itertools.count)
        self._unfinished: dict[Hashable, None] = {}
        # Of a group: the thread that opened it, and what was launched on each stream.
        self._held: tuple[int, dict[ep.spi.Ledger, list[Task]]] | None = None
        self._is_closed = False

    # What a carrier writes, beside `error`, `living`, `split` and `abort`.

    @abstractmethod
    def perform(self, tasks: Sequence[Task], lane: ep.spi.Stream) -> None:
        """Do collectives of this rank on a stream, which has got to them. Raises CommunicatorError, or the error of its own work."""

    @abstractmethod
    def leave(self) -> None:
        """Tell the others that this rank comes to nothing more. Called once or more often. Raises nothing."""

    @property
    def known_error(self) -> ep.CommunicatorError | None:
        """Why the communicator is broken, as far as this rank knows without asking the others."""
        return self.error

    # What carriers have in common.

    @property
    def implementations(self) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
        return self.table

    def close(self) -> None:
        self._is_closed = True
        if not self._unfinished:
            self._end()

    def begin(self) -> None:
        self._held = get_ident(), {}

    def end(self) -> Iterable[tuple[ep.spi.Ledger, Any]]:
        _, held = self._held or (0, {})
        parts = [(ledger, partial(self._do, tasks)) for ledger, tasks in held.items()]
        self._held = None
        return parts

    def forget(self, run: Any) -> None:
        (tasks,) = run.args
        for turn, *_ in tasks:
            self.finished(turn.key)

    def count(self, ranks: tuple[int, ...]) -> int:
        """Return how often these ranks were split off before."""
        number: int = next(self._splits[ranks])
        return number

    @property
    def is_idle(self) -> bool:
        """True if no launch is under way."""
        return not self._unfinished

    def take(self, collective: Any) -> Turn:
        """Return the next turn: a number among all collectives, or among those of a pair of ranks.

        Raises CommunicatorError if the communicator is broken, ClosedError if it is closed.
        """
        if self._is_closed:
            message = f"{collective.title}: the communicator of rank {self.rank} was closed; make another with ep.communicator"
            raise ClosedError(message)
        error = self.known_error
        if error is not None:
            raise error
        if collective.is_paired:
            ends = (self.rank, collective.peer) if collective.family == "send" else (collective.peer, self.rank)
            number = next(self._pairs[ends])
            turn = Turn((ends, number), ends, number)
        else:
            number = next(self._numbers)
            turn = Turn(number, self._all, number)
        self._unfinished[turn.key] = None
        return turn

    def performer(self, stream: ep.spi.Stream) -> Perform:
        """Return what does tasks when a stream has got to them, or, in a group of this thread, holds them back."""
        held = self._held
        if held is not None and held[0] == get_ident():
            tasks = held[1].setdefault(stream.ledger, [])
            return lambda given, _: tasks.extend(given)
        return self._do  # a worker's stream is another one where it runs

    def finished(self, key: Hashable) -> None:
        """Note that a collective is over for this rank."""
        self._unfinished.pop(key, None)
        if self._is_closed and not self._unfinished:
            self._end()

    def _do(self, tasks: Sequence[Task], lane: ep.spi.Stream, *_: Any) -> None:
        if lane.is_synchronous:
            self.perform(tasks, lane)
        else:
            self._courier.carry(lane, partial(self.perform, tasks))

    def _end(self) -> None:
        self.leave()
        self._courier.close()

    def __del__(self) -> None:
        if hasattr(self, "_is_closed"):  # its construction was not interrupted
            self.close()
