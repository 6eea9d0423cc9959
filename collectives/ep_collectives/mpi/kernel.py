"""The kernel of a collective over MPI: a rank writes to the others, waits for their letters, and does its part."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ep.errors import CommunicatorError
from ep.ground import words

import ep
from ep_collectives.carrier.host import finish
from ep_collectives.carrier.launch import CarriedKernel
from ep_collectives.descriptors.reducing import AllReduce, Reduce, ReduceScatter
from ep_collectives.mpi.exchange import Exchange
from ep_collectives.mpi.little import LITTLE, Little
from ep_collectives.mpi.moving import Moving
from ep_collectives.mpi.port import Port
from ep_collectives.mpi.reduction import Reduction
from ep_collectives.mpi.results import wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_collectives.carrier.launch import Task
    from ep_collectives.mpi.communicator import MpiCommunicator
    from ep_collectives.mpi.exchange import Pending, Steps
    from ep_collectives.mpi.peers import Peers
    from ep_collectives.mpi.places import Places

__all__ = ["MpiKernel", "perform"]

_SPIN_SECONDS: Final = 1e-3
"""For how long a rank that waits lets others run at once, before it sleeps in between."""
_LONGEST_SLEEP: Final = 1e-3


class MpiKernel(CarriedKernel):
    """One rank's part in one collective.

    agreement : what all ranks' letters must say alike
    """

    def __init__(self, collective: ep.Collective, communicator: MpiCommunicator) -> None:
        super().__init__(collective, communicator)
        self.agreement = collective.agreement.encode()
        self._part = _part_of(collective, communicator)
        self.scratch_nbytes = self._part.scratch_nbytes

    def bound(self, memories: tuple[ep.Memory, ...]) -> Places:
        return self._part.places(memories, is_step=True)

    def begin(self, task: Task, lane: ep.spi.Stream) -> tuple[Exchange, Steps]:
        """Write to the other ranks, and return the steps that are left."""
        places = task.bound or self._part.places(task.memories, is_step=False)
        exchange = Exchange(task, lane, places, self._part.tags)
        port = Port(exchange, self.communicator.stages)
        exchange.announce(partial(self._part.write, exchange, port))
        return exchange, self._steps(exchange, port)

    def _steps(self, exchange: Exchange, port: Port) -> Steps:
        yield from exchange.meet()
        yield from self._part.steps(exchange, port)
        yield from exchange.depart()
        port.settle()


def _part_of(collective: Any, communicator: MpiCommunicator) -> Little | Reduction | Moving:
    rank, size, device = communicator.rank, communicator.size, communicator.device
    if not isinstance(collective, AllReduce | Reduce | ReduceScatter):
        return Moving(collective, rank, size)
    most = max(wanted(collective, each, size).length for each in range(size)) * collective.specs[0].itemsize
    return (Little if most * size <= LITTLE else Reduction)(collective, rank, size, device)


def perform(tasks: Sequence[Task], lane: ep.spi.Stream) -> None:
    """Do collectives of one rank on a stream, all at once.

    Raises CommunicatorError, or the error that this rank's part failed with, which breaks the communicator.
    """
    peers: Peers = tasks[0].kernel.communicator.peers
    begun: list[tuple[Exchange, Steps]] = []
    try:
        begun.extend(task.kernel.begin(task, lane) for task in tasks)  # those that began, if one raises
        _run(begun, peers)
    except CommunicatorError:
        _retreat(begun, peers)
        raise
    except BaseException as error:
        what = begun[-1][0].part if begun else tasks[0].kernel.collective.title
        peers.fail(f"{what} failed: {words.said(error)}", [peers.rank])
        _retreat(begun, peers)
        raise
    finally:
        for exchange, _ in begun:
            peers.box.letters.pop(exchange.key, None)
        for task in tasks:
            task.kernel.communicator.finished(task.turn.key)


def _run(begun: Sequence[tuple[Exchange, Steps]], peers: Peers) -> None:
    """Go through the steps of exchanges until all are done. Raises CommunicatorError."""
    running, pump = [*begun], peers.wire.pump
    pace, since = -1, 0.0
    while True:
        pump()
        for pair in tuple(running):
            exchange, steps = pair
            try:
                next(steps)
            except StopIteration:
                exchange.pace += 1
                running.remove(pair)
            else:
                exchange.check()
        if not running:
            return
        now = sum([exchange.pace for exchange, _ in begun])
        if now != pace:
            pace, since = now, time.monotonic()
        else:
            _rest(time.monotonic() - since)


def _rest(waited: float) -> None:
    """Let other threads and processes run, the longer the longer this one has waited."""
    if waited < _SPIN_SECONDS:
        os.sched_yield()  # time.sleep(0) takes 50 us and more
    else:
        time.sleep(min(_LONGEST_SLEEP, waited / 16))


def _retreat(begun: Sequence[tuple[Exchange, Steps]], peers: Peers) -> None:
    """Give up what is under way, and wait until no other rank reads or writes this one's memory."""
    for exchange, steps in begun:
        with suppress(ep.EpError):  # the failure that is raised came before
            finish(exchange.lane)  # copies that read and write the steps' buffers
        steps.close()  # type: ignore[attr-defined]  # they are generators
        exchange.give_up()
    left: list[Pending] = [each for exchange, _ in begun for each in exchange.abandoned]
    for pending in left:
        if pending.is_receive and pending.request:  # MPI has not ended it with an error
            pending.request.Cancel()
    peers.say_out()
    end = time.monotonic() + peers.timeout
    while left and time.monotonic() < end:
        peers.wire.pump()
        left = [each for each in left if not _is_over(each, peers)]
        time.sleep(0)
    peers.wire.keep([each for exchange, _ in begun for each in exchange.abandoned if each.request])
    peers.flush()


def _is_over(pending: Pending, peers: Peers) -> bool:
    """Say whether a message that was given up is done, or nobody is there to receive it."""
    try:
        if pending.request.Test():
            return True
    except peers.wire.mpi.Exception:  # its process has ended
        return True
    is_out = peers.are_out(pending.rank) and not pending.is_receive
    return is_out or peers.wire.is_gone(peers.ranks[pending.rank])
