"""A Port moves bytes between messages and memories of a rank's device, through pinned memory where the host sees none of it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

import ep
from ep_collectives.carrier.host import finish, host_view, raise_failure

if TYPE_CHECKING:
    from ep_collectives.mpi.exchange import Exchange, Steps
    from ep_collectives.mpi.places import Spot

__all__ = ["PIECE", "Port", "Stages"]

PIECE: Final = 4 << 20
"""Bytes of a data message at most: several are under way at once, so that copies, messages and kernels overlap."""


class Stages:
    """Buffers of the host that data messages of a device pass through, each lent to one message at a time."""

    def __init__(self, device: ep.Device) -> None:
        self._device = device
        self._free: deque[tuple[Any, Any]] = deque()

    def take(self) -> tuple[Any, Any]:
        """Return a buffer of PIECE bytes, with what owns it: pinned, if the device has such memory."""
        try:
            return self._free.pop()
        except IndexError:
            if ep.MemoryKind.PINNED not in self._device.info.memory_kinds:
                return memoryview(bytearray(PIECE)), None
            memory = self._device.allocate(PIECE, ep.MemoryKind.PINNED)
            return memory.host(), memory

    def give_back(self, stage: tuple[Any, Any]) -> None:
        """Let another message have a buffer."""
        self._free.append(stage)


class Port:
    """The bytes of one exchange, on its lane: nothing else is enqueued there meanwhile."""

    def __init__(self, exchange: Exchange, stages: Stages) -> None:
        self._exchange = exchange
        self._lane = exchange.lane
        self._stages = stages

    def send(self, memory: ep.Memory, rank: int, tag: int) -> Steps:
        """Send the bytes of a memory, at most PIECE of them."""
        exchange, view = self._exchange, host_view(memory)
        if view is not None:
            yield from exchange.send(view, rank, tag)
            return
        stage = self._stages.take()
        part = stage[0][: memory.nbytes]
        self._lane.copy(part, memory, memory.nbytes)
        yield from self.reached()
        yield from exchange.send(part, rank, tag)
        self._stages.give_back(stage)

    def receive(self, memory: ep.Memory, rank: int, tag: int) -> Steps:
        """Receive the bytes of a memory, at most PIECE of them; they are there when the lane gets to its end."""
        exchange, view = self._exchange, host_view(memory)
        if view is not None:
            yield from exchange.receive(view, rank, tag)
            return
        stage = self._stages.take()
        part = stage[0][: memory.nbytes]
        yield from exchange.receive(part, rank, tag)
        self._lane.copy(memory, part, memory.nbytes)
        yield from self.reached()
        self._stages.give_back(stage)

    def reached(self) -> Steps:
        """Wait until the lane has done what it was given. Raises the error of work that failed."""
        if not self._lane.is_synchronous:
            event = self._lane.record(timed=False)
            while not event.is_done():
                yield
            self._exchange.pace += 1
        raise_failure(self._lane)

    def read(self, spot: Spot) -> Any:
        """Return a few bytes, waiting for them."""
        memory, view = spot
        if view is None:
            view = memoryview(bytearray(memory.nbytes))
            self._lane.copy(view, memory, memory.nbytes)
            finish(self._lane)
        return view

    def take_letters(self) -> None:
        """Write what came with the letters, and copy what stays at this rank: all is there when the lane gets to its end."""
        places, lane = self._exchange.places, self._lane
        for rank, (memory, view) in places.receives.items():
            payload = self._exchange.letter(rank).payload
            if view is not None:
                view[:] = payload
            else:
                lane.copy(memory, payload, memory.nbytes)
        for target, source in places.kept:
            self.copy(target, source)

    def copy(self, dst: ep.Memory, src: ep.Memory) -> None:
        """Copy as many bytes as dst has, on the lane."""
        if dst.nbytes:
            self._lane.copy(dst, src, dst.nbytes)

    def settle(self) -> None:
        """Wait for the lane. Raises the error of work that failed."""
        finish(self._lane)
