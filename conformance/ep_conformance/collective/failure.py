"""Cases of failure: whatever one rank does wrong, every rank is told which rank, collective and number it was."""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING, Final

import numpy as np
from ep_collectives import AllReduce, Barrier, Broadcast

import ep
from ep import TensorSpec
from ep_conformance.collective.ranks import CollectiveCase, Rank, Ranks, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_conformance.fixture.trial import Trial

__all__ = ["FAILURES"]

_SPEC: Final = TensorSpec("float32", (8,))
_SUM: Final = AllReduce("sum", x=_SPEC, out=_SPEC)
_BROADCAST: Final = Broadcast(x=_SPEC, root=0)
_TIMEOUT: Final = 0.25
_LONGEST: Final = 20.0
_OTHERS: Final = {
    "another collective": Barrier(),
    "another root": Broadcast(x=_SPEC, root=1),
    "another size": Broadcast(x=TensorSpec("float32", (7,)), root=0),
    "another element type": Broadcast(x=TensorSpec("int32", (8,)), root=0),
}


class _Heard:
    """What each rank's launch or synchronisation raised."""

    def __init__(self, trial: Trial, ranks: Ranks) -> None:
        self._trial = trial
        self._ranks = ranks
        self.errors: dict[int, ep.CommunicatorError] = {}

    def listen(self, launch: Callable[[Rank], None], *, without: int | None = None) -> None:
        """Launch at each rank but one, wait for all streams, and keep what is raised."""

        def go(rank: Rank) -> None:
            if rank.number != without:
                self._hear(rank, launch)

        self._ranks.each(go)
        for rank in self._ranks:
            self._hear(rank, lambda rank: rank.stream.synchronize(_LONGEST))

    def _hear(self, rank: Rank, call: Callable[[Rank], None]) -> None:
        try:
            call(rank)
        except ep.CommunicatorError as error:
            self.errors.setdefault(rank.number, error)

    def check(self, numbers: list[int], blamed: int, collective: str, what: str) -> None:
        """Fail the case unless each of these ranks was told, by name, whom to blame, and its communicator is broken."""
        for number in (each for each in numbers if each in self._ranks.here):
            error = self.errors.get(number)
            self._trial.require(error is not None, f"{what}: rank {number} was told nothing")
            assert error is not None
            self._trial.equal(f"{what}: rank of the error of rank {number}", error.rank, number)
            self._trial.require(error.collective, f"{what}: the error of rank {number} names no collective")
            self._trial.equal(f"{what}: number in the error of rank {number}", error.sequence, 1)
            self._trial.require(blamed in error.blamed, f"{what}: rank {number} blames {error.blamed}, not {blamed}")
            self._trial.require(collective in str(error), f"{what}: the error does not name {collective}: {error}")
            broken = self._ranks[number].communicator.error
            self._trial.require(broken is not None, f"{what}: the communicator of rank {number} does not say so")


def _operand(rank: Rank, trial: Trial, collective: ep.Collective) -> dict[str, Tensor]:
    return {
        name: Tensor(rank, trial, np.zeros(spec.shape, spec.dtype))
        for name, spec in zip(collective.operands, collective.specs, strict=True)
    }


def _launch_own(collectives: dict[int, ep.Collective], held: dict[int, dict[str, Tensor]], rank: Rank) -> None:
    rank.launch(collectives[rank.number], **held[rank.number])


def _what_does_not_agree_is_told_to_all(trial: Trial, *, size: int) -> None:
    for what, other in _OTHERS.items():
        ranks, odd = Ranks(trial, size), size - 1
        mine = {rank.number: other if rank.number == odd else _BROADCAST for rank in ranks}
        held = {rank.number: _operand(rank, trial, mine[rank.number]) for rank in ranks}
        heard = _Heard(trial, ranks)
        heard.listen(functools.partial(_launch_own, mine, held))
        heard.check([*range(size)], odd, "broadcast", what)


def _a_rank_that_does_not_come_is_named_in_time(trial: Trial, *, size: int) -> None:
    ranks, odd = Ranks(trial, size, timeout=_TIMEOUT), size - 1
    held = {rank.number: _operand(rank, trial, _BROADCAST) for rank in ranks}
    heard = _Heard(trial, ranks)
    ranks.meet()
    begin = time.monotonic()
    heard.listen(lambda rank: rank.launch(_BROADCAST, **held[rank.number]), without=odd)
    trial.require(
        time.monotonic() - begin < _LONGEST, f"it took more than {_LONGEST:g} s, and the timeout is {_TIMEOUT} s"
    )
    heard.check([*range(odd)], odd, "broadcast", "a rank that does not come")
    living = tuple(range(odd))
    here = [number for number in living if number in ranks.here]
    for number in here:
        trial.equal("living", ranks[number].communicator.living, living)
    own = {number: trial.closing(ranks[number].communicator.split(living)) for number in here}
    for number in here:  # the broken one's stream is usable, and so is a smaller communicator
        trial.equal("the error of a split", own[number].error, None)

    def go(rank: Rank) -> None:
        if rank.number != odd:
            memory = held[rank.number]["x"].memory
            _BROADCAST.on(own[rank.number])(rank.stream, x=memory)

    ranks.each(go)
    for number in here:
        ranks[number].stream.synchronize(_LONGEST)


def _abort_ends_what_waits(trial: Trial, *, size: int) -> None:
    _ends_what_waits(trial, size, lambda rank: rank.communicator.abort("enough"), "aborted: enough")


def _a_rank_that_closes_is_not_waited_for(trial: Trial, *, size: int) -> None:
    _ends_what_waits(trial, size, lambda rank: rank.communicator.close(), "closed the communicator")


def _ends_what_waits(trial: Trial, size: int, end: Callable[[Rank], None], words: str) -> None:
    ranks, odd = Ranks(trial, size), size - 1
    held = {rank.number: _operand(rank, trial, _BROADCAST) for rank in ranks}
    heard, begin = _Heard(trial, ranks), time.monotonic()

    def launch(rank: Rank) -> None:
        if rank.number == odd:
            time.sleep(_TIMEOUT / 5)
            end(rank)
        else:
            rank.launch(_BROADCAST, **held[rank.number])

    heard.listen(launch)
    trial.require(time.monotonic() - begin < _LONGEST, f"the ranks were not told within {_LONGEST:g} s")
    heard.check([*range(odd)], odd, words, f"a rank that {words}")


FAILURES: Final = (
    CollectiveCase(
        "failure/what-does-not-agree-is-told-to-all",
        _what_does_not_agree_is_told_to_all,
        "Another collective, root, size or element type at one rank is an error at every rank that names it.",
        least_ranks=2,
    ),
    CollectiveCase(
        "failure/a-rank-that-does-not-come-is-named-in-time",
        _a_rank_that_does_not_come_is_named_in_time,
        "A rank that never launches is named to all others after the timeout, and the living go on in a split.",
        least_ranks=2,
    ),
    CollectiveCase(
        "failure/abort-ends-what-waits",
        _abort_ends_what_waits,
        "An abort at one rank ends the collectives that the others wait in, with its reason.",
        least_ranks=2,
    ),
    CollectiveCase(
        "failure/a-rank-that-closes-is-not-waited-for",
        _a_rank_that_closes_is_not_waited_for,
        "A rank that closes its communicator is named at once to those that wait for it.",
        least_ranks=2,
    ),
)
