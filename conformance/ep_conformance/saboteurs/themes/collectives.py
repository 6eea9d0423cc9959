"""Saboteurs of collectives: carriers that leave out a rank, mix up parts, hold on to old terms, or go on too early."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ep_collectives import AllReduce, Broadcast
from ep_collectives.carrier.courier import Courier
from ep_collectives.carrier.implementation import table_of
from ep_collectives.local.communicator import LocalCommunicator
from ep_collectives.local.implementation import Shares
from ep_collectives.local.kernel import LocalKernel
from ep_collectives.local.work import Folding, part

from ep_conformance.saboteurs.device import HonestDevice
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_collectives.local.circle import Post

    import ep

__all__ = [
    "AddsAsTheyCome",
    "BroadcastsFromTheFirst",
    "EndsPartsAtLines",
    "ForgetsThatItBroke",
    "GoesOnBeforeTheOthers",
    "KeepsOldTerms",
    "LeavesOutARank",
    "SumsMeans",
]

_LINE = 16


def _device(carrier: type[LocalCommunicator]) -> type[HonestDevice]:
    """Return the honest device with a carrier."""
    return type("Device", (HonestDevice,), {"carrier_type": carrier})


def _folding(kind: type[Folding]) -> type[HonestDevice]:
    """Return the honest device whose carrier folds in some way."""
    kernel = type("Kernel", (LocalKernel,), {"folding_type": kind})
    return _served(type("Shares", (Shares,), {"kernel_type": kernel}))


def _served(shares: type[Shares]) -> type[HonestDevice]:
    """Return the honest device whose carrier has some implementation."""
    return _device(type("Carrier", (LocalCommunicator,), {"table": table_of(shares())}))


class _WithoutTheLast(Folding):
    def terms(self, posts: Mapping[int, Post], begin: int, count: int) -> list[ep.Memory]:
        found = super().terms(posts, begin, count)
        return [*found[:-1], found[0]]


@killed_by("collective/4/all_reduce/sum/float32")
class LeavesOutARank(HonestProvider):
    """Reduce the terms of the first rank in place of those of the last."""

    device_type: ClassVar[type[HonestDevice]] = _folding(_WithoutTheLast)


class _AsTheyCome(Folding):
    def terms(self, posts: Mapping[int, Post], begin: int, count: int) -> list[ep.Memory]:
        return [part(posts[rank], "x", begin, count) for rank in posts]


@killed_by("collective/4/order/terms-are-added-in-the-order-of-the-ranks")
class AddsAsTheyCome(HonestProvider):
    """Add terms in the order in which their ranks came."""

    device_type: ClassVar[type[HonestDevice]] = _folding(_AsTheyCome)


class _ToLines(Folding):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        begin, end, targets = self.fold
        self.fold = self.fold._replace(begin=begin, end=begin + (end - begin) // _LINE * _LINE, targets=targets)


@killed_by("collective/4/reduce_scatter/max/float32")
class EndsPartsAtLines(HonestProvider):
    """Reduce no more elements of a part than whole lines have."""

    device_type: ClassVar[type[HonestDevice]] = _folding(_ToLines)


class _WithOldTerms(Folding):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._old: dict[tuple[int, int], list[ep.Memory]] = {}

    def do(self, posts: Any, transport: Any, scratch: Any, step: Callable[[], None]) -> None:
        for begin, count in ((self.fold.begin, self.fold.end - self.fold.begin),) if not self._old else ():
            terms = super().terms(posts, begin, count)
            kept = [term.device.allocate(max(term.nbytes, 1))[: term.nbytes] for term in terms]
            for copy, term in zip(kept, terms, strict=True):
                transport.move(copy, term)
            self._old[begin, count] = kept
        super().do(posts, transport, scratch, step)

    def terms(self, posts: Mapping[int, Post], begin: int, count: int) -> list[ep.Memory]:
        return self._old.get((begin, count)) or super().terms(posts, begin, count)


@killed_by("collective/4/order/steps-and-graphs-take-what-is-there")
class KeepsOldTerms(HonestProvider):
    """Reduce the terms of the first launch at each later one."""

    device_type: ClassVar[type[HonestDevice]] = _folding(_WithOldTerms)


class _SumsMeans(Shares):
    def create(self, descriptor: Any, device: Any, code: Any) -> ep.Kernel:
        if isinstance(descriptor, AllReduce) and descriptor.op == "mean":
            descriptor = AllReduce("sum", x=descriptor.specs[0], out=descriptor.specs[1])
        return super().create(descriptor, device, code)


@killed_by("collective/4/all_reduce/mean/float32")
class SumsMeans(HonestProvider):
    """Give the sum where the mean was asked for."""

    device_type: ClassVar[type[HonestDevice]] = _served(_SumsMeans)


class _FromTheFirst(Shares):
    def create(self, descriptor: Any, device: Any, code: Any) -> ep.Kernel:
        if isinstance(descriptor, Broadcast):
            descriptor = Broadcast(x=descriptor.specs[0], root=0)
        return super().create(descriptor, device, code)


@killed_by("collective/4/broadcast/-/float32")
class BroadcastsFromTheFirst(HonestProvider):
    """Broadcast what rank 0 has, whatever the root."""

    device_type: ClassVar[type[HonestDevice]] = _served(_FromTheFirst)


class _Hasty(Courier):
    def carry(self, stream: Any, work: Any) -> None:
        unheld: Any = _Unheld(stream)
        super().carry(unheld, work)


class _Unheld:
    """A stream that a courier cannot hold: it goes on when it gets to the collective."""

    def __init__(self, stream: ep.spi.Stream) -> None:
        self._stream = stream
        self.ledger = stream.ledger

    def call(self, hold: Any) -> None:
        reached, _ = hold.args
        self._stream.call(partial(_reach, reached))


def _reach(latch: Any) -> None:
    latch.open()


@killed_by("collective/4/order/a-rank-waits-for-all-others")
class GoesOnBeforeTheOthers(HonestProvider):
    """Let a stream go on, and its events be done, before the other ranks have come."""

    device_type: ClassVar[type[HonestDevice]] = _device(type("Carrier", (LocalCommunicator,), {"courier_type": _Hasty}))


class _Forgetful(LocalCommunicator):
    @property
    def error(self) -> None:
        return None


@killed_by("collective/4/failure/what-does-not-agree-is-told-to-all")
class ForgetsThatItBroke(HonestProvider):
    """Say of a broken communicator that it works."""

    device_type: ClassVar[type[HonestDevice]] = _device(_Forgetful)
