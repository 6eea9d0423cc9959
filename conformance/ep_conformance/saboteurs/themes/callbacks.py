"""Saboteurs of host callbacks: called at the wrong time, too often, or with an error that gets lost."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, ClassVar

from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.stream import HonestStream

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CallsAtOnce",
    "CallsBackwards",
    "CallsTwice",
    "CallsWithoutWaiting",
    "MiscountsErrors",
    "RepeatsErrors",
    "SwallowsErrors",
]


class _CallsAtOnce(HonestStream):
    def call(self, function: Callable[[], object]) -> None:
        called = threading.Thread(target=function)
        called.start()
        self.enqueue(called.join)


@killed_by("runtime/program/callbacks")
class CallsAtOnce(HonestProvider):
    """Call a host function when it is enqueued, not when the stream gets there."""

    stream_type: ClassVar[type[HonestStream]] = _CallsAtOnce


class _CallsWithoutWaiting(HonestStream):
    def call(self, function: Callable[[], object]) -> None:
        def late() -> None:
            time.sleep(0.002)
            function()

        self.enqueue(lambda: threading.Thread(target=late).start())


@killed_by("runtime/program/callbacks")
class CallsWithoutWaiting(HonestProvider):
    """Let the stream work on while a host function runs."""

    stream_type: ClassVar[type[HonestStream]] = _CallsWithoutWaiting


class _CallsBackwards(HonestStream):
    _waiting: tuple[Callable[[], object], ...] = ()

    def call(self, function: Callable[[], object]) -> None:
        def collect() -> None:
            self._waiting = (function, *self._waiting)

        super().enqueue(collect)

    def enqueue(self, task: Callable[[], object]) -> None:
        super().enqueue(self._call_all)
        super().enqueue(task)

    def _call_all(self) -> None:
        functions, self._waiting = self._waiting, ()
        for function in functions:
            function()


@killed_by("runtime/program/callbacks")
class CallsBackwards(HonestProvider):
    """Call host functions that follow one another last first."""

    stream_type: ClassVar[type[HonestStream]] = _CallsBackwards


class _CallsTwice(HonestStream):
    def call(self, function: Callable[[], object]) -> None:
        super().call(function)
        super().call(function)


@killed_by("runtime/call/runs-once-and-in-order")
class CallsTwice(HonestProvider):
    """Call each host function twice."""

    stream_type: ClassVar[type[HonestStream]] = _CallsTwice


class _SwallowsErrors(HonestStream):
    def call(self, function: Callable[[], object]) -> None:
        super().call(function)
        self.enqueue(self.ledger._failure.take)  # noqa: SLF001 - EP keeps it for who synchronises


@killed_by("runtime/call/exception-is-raised-by-the-next-synchronisation")
class SwallowsErrors(HonestProvider):
    """Forget what a host function raised."""

    stream_type: ClassVar[type[HonestStream]] = _SwallowsErrors


class _RepeatsErrors(HonestStream):
    _raised: BaseException | None = None

    def call(self, function: Callable[[], object]) -> None:
        super().call(function)
        self.enqueue(self._remember)

    def _remember(self) -> None:
        self._raised = self.ledger._failure.error  # noqa: SLF001 - likewise

    def synchronize(self) -> None:
        super().synchronize()
        if self._raised is not None:
            self.ledger.failed(None, self._raised)


@killed_by("runtime/call/exception-is-raised-by-the-next-synchronisation")
class RepeatsErrors(HonestProvider):
    """Raise what a host function raised at each synchronisation, not at the next alone."""

    stream_type: ClassVar[type[HonestStream]] = _RepeatsErrors


class _MiscountsErrors(HonestStream):
    def call(self, function: Callable[[], object]) -> None:
        super().call(function)
        self.enqueue(self._miscount)

    def _miscount(self) -> None:
        error = self.ledger._failure.error  # noqa: SLF001 - likewise
        if error is not None and hasattr(error, "__notes__"):
            error.__notes__ = [note.replace("enqueue ", "enqueue 1") for note in error.__notes__]


@killed_by("runtime/call/exception-names-its-place")
class MiscountsErrors(HonestProvider):
    """Name another enqueue than the one whose host function raised."""

    stream_type: ClassVar[type[HonestStream]] = _MiscountsErrors
