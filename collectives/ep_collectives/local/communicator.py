"""The local carrier's communicator: one rank's numbers, and the streams that it works on."""

from __future__ import annotations

import itertools
from collections import defaultdict
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING, Any, ClassVar

from ep.errors import ClosedError

import ep
from ep_collectives.local.courier import Courier
from ep_collectives.local.implementation import TABLE
from ep_collectives.local.kernel import Task, Turn, perform
from ep_collectives.local.transport import Streams

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from ep_collectives.local.circle import Circle
    from ep_collectives.local.kernel import Run

__all__ = ["LocalCommunicator"]


class LocalCommunicator(ep.spi.Communicator):
    """One rank of a circle.

    streams : of this rank on other ranks' devices
    """

    table: ClassVar[Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]] = TABLE
    courier_type: ClassVar[type[Courier]] = Courier

    def __init__(self, circle: Circle, rank: int, device: ep.Device) -> None:
        super().__init__(rank, circle.size)
        self.circle = circle
        self.device = device
        self.streams = Streams()
        self._courier = self.courier_type(device, rank)
        self._all = tuple(range(circle.size))
        self._numbers = itertools.count(1)
        self._pairs: defaultdict[tuple[int, int], Any] = defaultdict(partial(itertools.count, 1))
        self._splits: defaultdict[tuple[int, ...], Any] = defaultdict(itertools.count)
        self._unfinished: dict[Hashable, None] = {}
        # Of a group: the thread that opened it, and what was launched on each stream.
        self._held: tuple[int, dict[ep.spi.Ledger, list[Task]]] | None = None
        self._is_closed = False

    @property
    def implementations(self) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
        return self.table

    @property
    def error(self) -> ep.CommunicatorError | None:
        return self.circle.error(self.rank)

    @property
    def living(self) -> tuple[int, ...]:
        return tuple([rank for rank in self._all if rank not in self.circle.closed and rank not in self.circle.lost])

    def split(self, ranks: Sequence[int]) -> LocalCommunicator:
        chosen = tuple(ranks)
        part = self.circle.part(chosen, next(self._splits[chosen]))
        return type(self)(part, chosen.index(self.rank), self.device)

    def abort(self, reason: str) -> None:
        self.circle.fail(f"rank {self.rank} aborted{f': {reason}' if reason else ''}", [self.rank])

    def close(self) -> None:
        self._is_closed = True
        if not self._unfinished:
            self._leave()

    def begin(self) -> None:
        self._held = get_ident(), {}

    def end(self) -> Iterable[tuple[ep.spi.Ledger, Run]]:
        _, held = self._held or (0, {})
        self._held = None
        return [(ledger, partial(self._run_all, tasks)) for ledger, tasks in held.items()]

    def take(self, collective: Any) -> Turn:
        """Return the next turn: a number among all collectives, or among those of a pair of ranks.

        Raises CommunicatorError if the communicator is broken, ClosedError if it is closed.
        """
        if self._is_closed:
            message = f"{collective.title}: the communicator of rank {self.rank} was closed; make another with ep.communicator"
            raise ClosedError(message)
        error = self.error
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

    def runner(self, task: Callable[[Any], Task], memories: tuple[ep.Memory, ...] | None, stream: ep.spi.Stream) -> Run:
        """Return the run of a task, which a group holds back.

        task     : makes it of the launch's memories
        memories : of a step, else None
        """
        held = self._held
        if held is not None and held[0] == get_ident():
            tasks = held[1].setdefault(stream.ledger, [])
            return lambda _, given, __: tasks.append(task(given if memories is None else memories))
        return lambda lane, given, _: self._run_all([task(given if memories is None else memories)], lane)

    def finished(self, key: Hashable) -> None:
        """Note that a collective is over for this rank."""
        self._unfinished.pop(key, None)
        if self._is_closed and not self._unfinished:
            self._leave()

    def _run_all(self, tasks: Sequence[Task], stream: ep.spi.Stream, *_: Any) -> None:
        if stream.is_synchronous:
            perform(tasks, stream)
        else:
            self._courier.carry(stream, partial(perform, tasks))

    def _leave(self) -> None:
        self.circle.closed[self.rank] = None
        self._courier.close()

    def __del__(self) -> None:
        if hasattr(self, "_is_closed"):  # its construction was not interrupted
            self.close()
