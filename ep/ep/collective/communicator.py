"""A Communicator is one rank's place among ranks that compute together."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

from ep.errors import ClosedError
from ep.ground.glimpse import glimpse
from ep.ground.uncopied import Uncopied
from ep.integers import integer, several
from ep.spi.communicator import Communicator as SpiCommunicator
from ep.spi.communicator import Group
from ep.stream.device import Device
from ep.work.collective import CollectiveCache

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ep.errors import CommunicatorError
    from ep.ground.ledger import Ledger

__all__ = ["Communicator", "communicator"]


@final
class Communicator(Uncopied):
    """One rank of a group, made by `ep.communicator(device, group)`. Used by one thread at a time.

    `descriptor.on(communicator)` makes a collective runnable; the primitive is launched on streams of the device. The
    ranks' collectives meet in the order in which each rank launches them, whatever its streams. Those of a graph, and
    stages of one that lowers to several, count when their stream gets there; streams beside it take a communicator of
    their own: `communicator.split(range(communicator.size))`.

    device     : of this rank; ranks may share one
    rank, size : this rank's number, from 0, and how many ranks there are
    twin       : the carrier's communicator
    """

    def __init__(self, device: Device, twin: SpiCommunicator) -> None:
        self.device = device
        self.twin = twin
        self.rank = twin.rank
        self.size = twin.size
        self.is_closed = False
        self._is_grouping = False
        self._cache = CollectiveCache(device, twin)

    @property
    def error(self) -> CommunicatorError | None:
        """Why the communicator is broken; None while it works. Once broken it stays so. Never waits."""
        return self.twin.error

    @property
    def living(self) -> tuple[int, ...]:
        """The ranks that are not known to have closed their communicators or to have failed to come. Never waits."""
        return self.twin.living

    def split(self, ranks: Iterable[int]) -> Communicator:
        """Return a communicator of some of the ranks, numbered in the order given, on the same device.

        ranks : numbers of this communicator, this rank's among them; each of them calls split with the same ones, in the same order

        Does not wait. Works on a broken communicator, too: `communicator.split(communicator.living)`. Raises TypeError for
        no sequence of integers, ValueError for other numbers.
        """
        self._require_open("split")
        chosen = tuple([integer("split: ranks", rank) for rank in several("split", ranks, self.size, "ranks")])
        if self.rank not in chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(range(self.size)):
            message = f"split: ranks are {chosen}, needs different numbers from 0 to {self.size - 1}, {self.rank} among them: this rank's own"
            raise ValueError(message)
        return Communicator(self.device, self.twin.split(chosen))

    @contextmanager
    def group(self) -> Iterator[None]:
        """Let what this thread launches in a `with` block run as one, after the block.

        For a Send and a Recv that need each other, and for several collectives at once. What was launched runs in its
        order at the block's end, on each stream that it was launched on, also if the block raises. A capture takes the
        launches one by one, without the group. Keep memories open until the block ends. Raises ValueError inside a group.
        """
        self._require_open("group")
        if self._is_grouping:
            message = f"communicator.group: {self!r} has a group open already; end it first"
            raise ValueError(message)
        try:
            self._is_grouping = True
            self.twin.begin()
            yield
        finally:
            parts: Iterable[tuple[Ledger, Any]] = ()
            try:
                parts = self.twin.end()
            except KeyboardInterrupt:  # what was launched runs all the same
                parts = self.twin.end()
                raise
            finally:
                self._is_grouping = False
                self._submit(parts)

    def _submit(self, parts: Iterable[tuple[Ledger, Any]]) -> None:
        """Enqueue a group's part on each stream. One that does not take its part breaks the communicator: other ranks wait for it."""
        refused: BaseException | None = None
        for ledger, run in parts:
            reason = "it was dropped"
            if (stream := ledger.stream) is not None:
                try:
                    stream._submit("group", (), (), run)
                    continue
                except BaseException as error:  # noqa: BLE001 - the parts of other streams are enqueued first
                    refused, reason = refused or error, str(error)
            self.twin.forget(run)
            self.twin.abort(f"{ledger.name} did not take its part of a group: {reason}")
        if refused is not None:
            raise refused

    def abort(self, reason: str = "") -> None:
        """Break the communicator at every rank: collectives under way and later ones raise. From any thread; idempotent."""
        self._require_open("abort")
        self.twin.abort(str(reason))

    def close(self) -> None:
        """Launch nothing more; what was launched goes on. Does not wait. Idempotent.

        Ranks that wait for one that has closed its communicator get an error at once.
        """
        if not self.is_closed:
            self.is_closed = True
            self._cache.clear()
            self.twin.close()

    @property
    def _primitives(self) -> CollectiveCache:
        self._require_open("on")
        error = self.error
        if error is not None:
            raise error
        return self._cache

    def _require_open(self, operation: str) -> None:
        self.device._require_open(f"communicator.{operation}")
        if self.is_closed:
            message = f"communicator.{operation}: {self!r} was closed; make another with ep.communicator"
            raise ClosedError(message)

    def __repr__(self) -> str:
        return f"<Communicator: rank {self.rank} of {self.size} on {self.device.name}>"


def communicator(device: Device, group: Any) -> Communicator:
    """Return the communicator of one rank.

    device : this rank's; ranks of one group may have devices of different providers
    group  : this rank's, from a carrier: of `ep_collectives.local_groups(size)`, for ranks in one process

    The device's provider may carry such a group itself, else the group's own carrier does. Does not wait for the other
    ranks. Raises TypeError for other objects, ValueError for a rank that has joined already, ClosedError.
    """
    if not isinstance(device, Device):
        message = f"communicator: device is {glimpse(device)}, needs a Device; ep.device('cpu:0') finds one"
        raise TypeError(message)
    if not isinstance(group, Group):
        message = f"communicator: group is {glimpse(group)}, needs a group of a carrier; ep_collectives.local_groups(2) makes two"
        raise TypeError(message)
    device._require_open("communicator")
    return Communicator(device, device.twin.communicator(device, group) or group.join(device))
