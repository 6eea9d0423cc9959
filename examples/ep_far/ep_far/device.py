"""The far device: memory, queues and graphs of another process, by numbers that are no addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ep
from ep_far.graph import FarGraph, work_of
from ep_far.link import Link
from ep_far.stream import FarStream

if TYPE_CHECKING:
    from collections.abc import Sequence

_MEMORY = 1 << 30
_ALIGNMENT = 64
_LOSS_SECONDS = 10.0


class FarDevice(ep.spi.Device):
    """One process, which begins when it is first needed and ends with the device."""

    def __init__(self) -> None:
        super().__init__(
            ep.DeviceInfo(
                "Far One", "Far", driver="0.1", memory=_MEMORY, alignment=_ALIGNMENT, dtypes=frozenset({"float32"})
            )
        )
        self._link: Link | None = None
        self._nbytes: dict[int, int] = {}  # of each allocation

    @property
    def link(self) -> Link:
        """The link to the process."""
        if self._link is None:
            made = Link(self.name)
            if self._link is None:
                self._link = made
            else:  # a handler came in and has begun one
                made.close()
        return self._link

    def allocate(self, nbytes: int, kind: ep.MemoryKind) -> int:
        del kind
        if self.link.is_lost:
            raise self.link.lost_error()
        # Counted here and not asked for: a finalizer on the reader's thread may allocate, and would wait for itself.
        _, free = self.memory_info()
        if nbytes > free:
            message = f"{self.name}: no room for {nbytes} bytes; {free} are free"
            raise ep.OutOfMemoryError(message, requested=nbytes, free=free, provider="far", call="allocate")
        handle = self.link.number()
        self._nbytes[handle] = nbytes
        self.link.send("allocate", handle, nbytes)
        return handle

    def free(self, handle: int, kind: ep.MemoryKind) -> None:
        del kind
        del self._nbytes[handle]
        self.link.send("free", handle)  # a lost device does not read it

    def stream(self, ledger: ep.spi.Ledger, *, priority: int, timed: bool, synchronous: bool | None) -> FarStream:
        del priority
        if synchronous:
            message = f"{self.name}: streams are asynchronous only; ask for synchronous=False or None"
            raise ep.UnsupportedError(message)
        if self.link.is_lost:
            raise self.link.lost_error()
        return FarStream(ledger, self.link, is_timed=timed)

    def memory_info(self) -> tuple[int, int]:
        return _MEMORY, _MEMORY - sum([*self._nbytes.values()])

    def instantiate(self, nodes: Sequence[ep.Node], slots: tuple[ep.Slot, ...]) -> FarGraph | None:
        nodes = tuple(nodes)
        work = work_of(nodes)
        return None if work is None else FarGraph(self.link, nodes, slots, work)

    def inject(self, fault: ep.spi.Fault) -> None:
        if fault.kind is ep.spi.FaultKind.LOSS:
            self.link.process.kill()
            self.link.lost.rest(_LOSS_SECONDS)
        else:
            self.link.send("inject", fault.kind.value, fault.nth)

    @property
    def native_calls(self) -> int:
        """Frames that were sent to the device."""
        return 0 if self._link is None else self._link.sent

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
