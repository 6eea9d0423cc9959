"""Peers are the other ranks of one communicator, as this rank knows them: who has come, left, or broken it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final

from ep_collectives.carrier.failure import Failure, named
from ep_collectives.mpi.letter import ALIVE, CLOSE, FAIL, OUT, Letter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import ep
    from ep_collectives.carrier.failure import Part
    from ep_collectives.mpi.letter import Key
    from ep_collectives.mpi.wire import Wire

__all__ = ["Peers"]

_MOST_SAID: Final = 2000
"""Characters of a failure's sentence that others are told."""
_FLUSH_SECONDS: Final = 0.2
"""For how long a rank that leaves waits for its last letters to go."""


class Peers:
    """The ranks of one communicator.

    address : 16 bytes, equal at all of its ranks
    ranks   : of the wire, in the communicator's order
    rank    : this one's number in it
    timeout : seconds
    lost    : ranks that did not come when they should have, or whose process has ended
    """

    def __init__(self, wire: Wire, address: bytes, ranks: tuple[int, ...], rank: int, timeout: float) -> None:
        self.wire, self.address, self.ranks, self.rank, self.timeout = wire, address, ranks, rank, timeout
        self.others = tuple([number for number in range(len(ranks)) if number != rank])
        self.lost: dict[int, None] = {}
        self.box = wire.box(address)
        self._numbers = {place: number for number, place in enumerate(ranks)}
        self._failure: Failure | None = None
        self._has_closed = False

    def others_of(self, ranks: tuple[int, ...]) -> tuple[int, ...]:
        """Return the ranks of a collective but this one."""
        return self.others if len(ranks) == len(self.ranks) else tuple([rank for rank in ranks if rank != self.rank])

    def letters(self, key: Key) -> dict[int, Letter]:
        """Return the letters about a collective, by rank of the wire."""
        return self.box.letters.setdefault(key, {})

    def closed(self) -> set[int]:
        """Return the ranks that have closed their communicators, this one perhaps among them."""
        mine = {self.rank} if self._has_closed else set()
        return mine | {self._numbers[place] for place in [*self.box.closed]}

    def are_out(self, rank: int) -> bool:
        """Say whether a rank will receive nothing more."""
        place = self.ranks[rank]
        return place in self.box.out or place in self.box.closed or rank in self.lost

    def waits_elsewhere(self, rank: int, key: Key) -> bool:
        """Say whether a rank has come to another collective than this one, and so lives."""
        place = self.ranks[rank]
        return any(place in letters for other, letters in [*self.box.letters.items()] if other != key)

    def say_alive(self) -> None:
        """Tell all others that this rank waits, and lives."""
        self._tell(Letter(ALIVE, self.address))

    def is_alive(self, rank: int, seconds: float) -> bool:
        """Say whether a rank has said that it lives within the last seconds."""
        return time.monotonic() - self.box.alive.get(self.ranks[rank], -seconds) < seconds

    def look(self) -> Failure | None:
        """Return why the communicator is broken, as far as letters have come; None while it is not."""
        while self._failure is None and self.box.failures:
            _, text = self.box.failures[0]
            told = json.loads(text)
            self._break(told["sentence"], told["blamed"], told["lost"])
        return self._failure

    def error(self, part: Part | None = None) -> ep.CommunicatorError | None:
        """Return why the communicator is broken, as an error of this rank; None while it is not."""
        failure = self.look()
        return None if failure is None else failure.error(self.rank, part)

    def fail(self, sentence: str, blamed: Sequence[int], lost: Iterable[int] = ()) -> None:
        """Break the communicator at every rank, unless it is broken already."""
        if self.look() is None:
            self._break(sentence, blamed, lost)

    def say_out(self) -> None:
        """Tell all others that this rank receives nothing more."""
        self._tell(Letter(OUT, self.address))

    def close(self) -> None:
        """Tell all others that this rank comes to nothing more. Once is enough."""
        if self._has_closed or not self.wire.is_open:
            return
        self._has_closed = True
        self._tell(Letter(CLOSE, self.address))
        self.flush()
        self.box.awaited = len(self.others)
        if self.box.is_over:
            self.wire.drop(self.address)

    def flush(self) -> None:
        """Wait a little for letters to go: this process may not come to send them for long."""
        end = time.monotonic() + _FLUSH_SECONDS
        self.wire.pump()
        while self.wire.has_unsent and time.monotonic() < end:
            time.sleep(0)
            self.wire.pump()

    def missed(self, missing: Sequence[int], part: Part, key: Key, silent: Sequence[int]) -> None:
        """Break the communicator because of ranks that have not come in time.

        silent : those that have not said that they live
        """
        elsewhere = [rank for rank in missing if self.waits_elsewhere(rank, key)]
        also = f"; {named(elsewhere)} came to another one" if elsewhere else ""
        self.fail(
            f"{named(missing)} did not come to {part} within {self.timeout:g} s{also}",
            missing,
            [rank for rank in silent if rank not in elsewhere],
        )

    def _break(self, sentence: str, blamed: Sequence[int], lost: Iterable[int]) -> None:
        self.lost.update(dict.fromkeys(lost))
        self._failure = Failure(sentence, tuple(blamed))
        self.wire.has_lost |= bool(self.lost)
        told: dict[str, Any] = {"sentence": sentence[:_MOST_SAID], "blamed": [*blamed], "lost": [*self.lost]}
        self._tell(Letter(FAIL, self.address, payload=json.dumps(told).encode()))
        self.flush()

    def _tell(self, letter: Letter) -> None:
        text = letter.pack()
        for rank in self.others:
            if rank not in self.lost:
                self.wire.notify(self.ranks[rank], text)
