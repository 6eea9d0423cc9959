"""Saboteurs of late errors: swallowed, heard twice, of the wrong place or too early, and losses that are forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep_conformance.saboteurs.graph import HonestGraph
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.stream import HonestStream

if TYPE_CHECKING:
    from collections.abc import Callable

    import ep

__all__ = [
    "BlamesAnotherKernel",
    "BlamesAnotherStream",
    "BlamesTheEnqueueBefore",
    "BlamesTheFirstNode",
    "FailsBeforeItsTurn",
    "ForgetsItsLoss",
    "HangsWhenItIsLost",
    "RaisesAtTheNextVerb",
    "RepeatsLateErrors",
    "SwallowsLateErrors",
    "TellsEveryStream",
    "WorksOnBehindATrap",
]

_TRAP: Final = "runtime/late/trap-is-heard-by-synchronize"
_COPY: Final = "runtime/late/failed-copy-is-heard-by-its-event"
_NODE: Final = "runtime/late/failed-node-of-a-graph-is-named"
_LOSS: Final = "runtime/late/loss-is-permanent"


class _SwallowsLateErrors(HonestStream):
    @staticmethod
    def report(ledger: ep.spi.Ledger, ticket: ep.spi.Ticket, error: ep.EpError) -> None:
        """Report nothing."""


@killed_by(_TRAP)
class SwallowsLateErrors(HonestProvider):
    """Report no failed work."""

    stream_type: ClassVar[type[HonestStream]] = _SwallowsLateErrors


class _RepeatsLateErrors(HonestStream):
    _raised: BaseException | None = None

    def synchronize(self) -> None:
        super().synchronize()
        self._raised = self.ledger._failure.error or self._raised  # noqa: SLF001 - EP keeps it for who synchronises
        if self._raised is not None:
            self.ledger.failed(None, self._raised)


@killed_by(_COPY)
class RepeatsLateErrors(HonestProvider):
    """Raise the error of work at each synchronisation, not at the next alone."""

    stream_type: ClassVar[type[HonestStream]] = _RepeatsLateErrors


class _BlamesTheEnqueueBefore(HonestStream):
    @staticmethod
    def report(ledger: ep.spi.Ledger, ticket: ep.spi.Ticket, error: ep.EpError) -> None:
        ledger.failed(ticket._replace(sequence=ticket.sequence - 1), error)


@killed_by(_TRAP)
class BlamesTheEnqueueBefore(HonestProvider):
    """Name the number of the enqueue before the one that failed."""

    stream_type: ClassVar[type[HonestStream]] = _BlamesTheEnqueueBefore


class _BlamesAnotherStream(HonestStream):
    @staticmethod
    def report(ledger: ep.spi.Ledger, ticket: ep.spi.Ticket, error: ep.EpError) -> None:
        ledger.failed(ticket._replace(stream=f"{ledger.device.name}/stream"), error)


@killed_by("runtime/late/unheard-failure-is-a-warning-at-the-end")
class BlamesAnotherStream(HonestProvider):
    """Name another stream than the one whose work failed."""

    stream_type: ClassVar[type[HonestStream]] = _BlamesAnotherStream


class _BlamesAnotherKernel(HonestStream):
    @staticmethod
    def report(ledger: ep.spi.Ledger, ticket: ep.spi.Ticket, error: ep.EpError) -> None:
        ledger.failed(ticket._replace(what="record"), error)


@killed_by(_TRAP)
class BlamesAnotherKernel(HonestProvider):
    """Name another operation than the one that failed."""

    stream_type: ClassVar[type[HonestStream]] = _BlamesAnotherKernel


class _AtTheFirstNode(HonestStream):
    """What a graph's nodes are enqueued on."""

    def __init__(self, lane: HonestStream) -> None:
        self.ledger, self.device, self.cpu = lane.ledger, lane.device, lane.cpu

    def enqueue(self, task: Callable[[], object]) -> None:
        task()

    @staticmethod
    def report(ledger: ep.spi.Ledger, ticket: ep.spi.Ticket, error: ep.EpError) -> None:
        ledger.failed(ticket.of(0, ticket.what), error)


class _BlamesTheFirstNode(HonestGraph):
    def lane(self, stream: HonestStream) -> HonestStream:
        return _AtTheFirstNode(super().lane(stream))


@killed_by(_NODE)
class BlamesTheFirstNode(HonestProvider):
    """Name the first node of a graph, whichever failed."""

    graph_type: ClassVar[type[HonestGraph]] = _BlamesTheFirstNode


class _FailsBeforeItsTurn(HonestStream):
    def work(self, task: Callable[[], object], kind: str = "") -> Callable[[], object]:
        if self.device.strikes(kind):
            self.device.fail(kind)
        return super().work(task)


@killed_by(_COPY)
class FailsBeforeItsTurn(HonestProvider):
    """Raise the error of work when it is enqueued."""

    stream_type: ClassVar[type[HonestStream]] = _FailsBeforeItsTurn


class _RaisesAtTheNextVerb(HonestStream):
    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        error = self.ledger._failure.error  # noqa: SLF001 - as above
        if error is not None:
            raise error
        super().fill(dst, pattern)


@killed_by(_COPY)
class RaisesAtTheNextVerb(HonestProvider):
    """Raise the error of work at a later fill, too."""

    stream_type: ClassVar[type[HonestStream]] = _RaisesAtTheNextVerb


class _WorksOnBehindATrap(HonestStream):
    @staticmethod
    def may_begin(ledger: ep.spi.Ledger) -> bool:
        del ledger
        return True


@killed_by(_TRAP)
class WorksOnBehindATrap(HonestProvider):
    """Start the stream's later work after work that failed."""

    stream_type: ClassVar[type[HonestStream]] = _WorksOnBehindATrap


class _TellsEveryStream(HonestStream):
    _ledgers: ClassVar[list[ep.spi.Ledger]] = []

    def __init__(self, ledger: ep.spi.Ledger, *arguments: Any, **options: Any) -> None:
        self._ledgers.append(ledger)
        super().__init__(ledger, *arguments, **options)

    @staticmethod
    def report(ledger: ep.spi.Ledger, ticket: ep.spi.Ticket, error: ep.EpError) -> None:
        for each in _TellsEveryStream._ledgers:
            if each.device is ledger.device:
                each.failed(ticket, error)


@killed_by(_COPY)
class TellsEveryStream(HonestProvider):
    """Let a synchronisation with any stream of the device raise the error of failed work."""

    stream_type: ClassVar[type[HonestStream]] = _TellsEveryStream


class _ForgetsItsLoss(HonestStream):
    def synchronize(self) -> None:
        super().synchronize()
        self.device.is_lost = False


@killed_by(_LOSS)
class ForgetsItsLoss(HonestProvider):
    """Let the device work again once a wait has raised its loss."""

    stream_type: ClassVar[type[HonestStream]] = _ForgetsItsLoss


class _HangsWhenItIsLost(HonestStream):
    def is_idle(self) -> bool:
        return super().is_idle() and not self.device.is_lost


@killed_by(_LOSS)
class HangsWhenItIsLost(HonestProvider):
    """Never be idle once the device is lost, so that waits never end."""

    stream_type: ClassVar[type[HonestStream]] = _HangsWhenItIsLost
