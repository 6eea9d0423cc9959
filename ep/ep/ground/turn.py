"""A Turn is the right to load, probe or ask one plug-in: one thread has it at a time, and no thread takes it twice."""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, NoReturn

from ep.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Turn"]


class Turn:
    """One plug-in's turn. A plug-in that hangs in it blocks only threads that ask for the same plug-in.

    title    : the plug-in's name in messages
    refusal  : the reason for which the plug-in's code was refused another turn that was under way, "" if it was not.
               After a refusal the answer of the code is not kept, because asking again may help
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.refusal = ""
        self._taking = threading.RLock()
        self._owner = 0
        self._is_lost = False
        _TURNS.add(self)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the turn, and take it.

        Raises UnavailableError if waiting would never end: this thread has it already (the plug-in itself asks for it,
        or a handler or finalizer that interrupts the loading), or its owner waits for a turn that this thread has.
        """
        me = get_ident()
        self._check()
        outer = _WAITING.get(me)
        try:
            _WAITING[me] = self
            self._check_circle()
            with self._taking:
                _wait_for(me, outer)
                self._owner = me
                with self._noted():
                    yield
        finally:
            _wait_for(me, outer)

    @property
    def asked_for_itself(self) -> bool:
        """True if the refusal is this turn's own."""
        return self.refusal.startswith(self.title)

    @contextmanager
    def _noted(self) -> Iterator[None]:
        """Give the turn back, and reword an error that a refusal has caused."""
        _HELD.turns = (*_held(), self)
        try:
            yield
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if not self.refusal:
                raise
            again = "was asked for while it was being loaded, by its own code or by a handler that interrupted it; ask again"
            message = f"{self.title} {again}" if self.asked_for_itself else f"{self.title}: {self.refusal}"
            raise UnavailableError(message) from error
        finally:
            _HELD.turns = tuple(turn for turn in _held() if turn is not self)
            self._owner, self.refusal = 0, ""

    def _is_mine(self) -> bool:
        return self._taking._is_owned()  # type: ignore[attr-defined,no-any-return]  # what threading.Condition asks, too

    def _check(self) -> None:
        if self._is_mine():
            self._refuse("is being loaded by this very thread; ask again when that is done")
        if self._is_lost:
            self._refuse(
                "was being loaded by another thread when this process was forked; load it before, or start the child with spawn"
            )

    def _check_circle(self) -> None:
        # A circle that is seen twice is real: its threads wait for this one, so that none of them moves on.
        circle = self._circle()
        if circle and circle == self._circle():
            self._refuse(
                f"is being loaded by a thread that waits for {circle[-1].title}, which this one loads; neither may need the other"
            )

    def _circle(self) -> list[Turn]:
        """Return the turns from this one to one of this thread, each owner waiting for the next; [] without any."""
        chain: list[Turn] = []
        turn: Turn | None = self
        while turn is not None and turn not in chain:
            chain.append(turn)
            if turn._is_mine():
                return chain
            turn = _WAITING.get(turn._owner)
        return []

    def _refuse(self, why: str) -> NoReturn:
        message = f"{self.title} {why}"
        for turn in _held():
            turn.refusal = message
        raise UnavailableError(message)

    def _after_fork(self) -> None:
        """In a forked child: what another thread had begun will never be done."""
        if not self._is_mine():
            self._is_lost = self._is_lost or self._owner != 0
            self._taking, self._owner = threading.RLock(), 0


def _held() -> tuple[Turn, ...]:
    """Return the turns of this thread."""
    held: tuple[Turn, ...] = getattr(_HELD, "turns", ())
    return held


def _wait_for(me: int, turn: Turn | None) -> None:
    """Note what a thread waits for."""
    if turn is None:
        _WAITING.pop(me, None)
    else:
        _WAITING[me] = turn


def _renew() -> None:
    mine = _WAITING.get(get_ident())
    _WAITING.clear()
    _wait_for(get_ident(), mine)
    for turn in [*_TURNS]:
        turn._after_fork()


_HELD = threading.local()
_TURNS: weakref.WeakSet[Turn] = weakref.WeakSet()
_WAITING: dict[int, Turn] = {}
"""For each thread that waits for a turn, which. Read and written whole, so that no lock is needed."""

os.register_at_fork(after_in_child=_renew)
