"""Transport copies between the memories of ranks, on whatever devices these are, in the order of one stream."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ep_collectives.carrier.host import finish, host_view

if TYPE_CHECKING:
    import ep

__all__ = ["Streams", "Transport"]


class Streams:
    """Streams of a rank's own on other ranks' devices, each lent to one thread at a time."""

    def __init__(self) -> None:
        self._free: dict[ep.Device, deque[ep.Stream]] = {}

    def take(self, device: ep.Device) -> ep.Stream:
        """Return a stream that nobody uses."""
        try:
            return self._free.setdefault(device, deque()).pop()
        except IndexError:
            return device.stream()

    def give_back(self, stream: ep.Stream) -> None:
        """Let another thread have a stream."""
        self._free[stream.device].append(stream)


class Transport:
    """The copies of one share.

    lane : the provider's stream that the share's work runs on; a copy is done when the lane gets past it, except that
           others' memories have been written when `settle` returns
    """

    def __init__(self, device: ep.Device, lane: ep.spi.Stream, streams: Streams) -> None:
        self._device = device
        self.lane = lane
        self._streams = streams
        self._taken: dict[ep.Device, ep.Stream] = {}

    def move(self, dst: ep.Memory, src: ep.Memory) -> None:
        """Copy as many bytes as dst has."""
        mine = self._device
        here, there = dst.device, src.device
        if (
            (here is there is mine)
            or (here is mine and mine.can_copy_from(there))
            or (there is mine and mine.can_copy_to(here))
        ):
            self.lane.copy(dst, src, dst.nbytes)
            return
        seen = host_view(src)
        if seen is None:
            seen = host_view(dst)
            if seen is not None:  # straight into the target
                finish(self.lane)
                self._on(there).copy(seen, src, dst.nbytes)
                finish(self._on(there))
                return
            seen = memoryview(bytearray(dst.nbytes))
            self._on(there).copy(seen, src, dst.nbytes)
            finish(self._on(there))
        else:
            finish(self.lane)  # which may have written the source
        self._on(here).copy(dst, seen, dst.nbytes)
        finish(self._on(here))

    def settle(self) -> None:
        """Wait until all work of the share is done. Raises its error."""
        finish(self.lane)

    def close(self) -> None:
        """Give the streams back."""
        for stream in self._taken.values():
            self._streams.give_back(stream)

    def _on(self, device: ep.Device) -> ep.spi.Stream:
        """Return a stream of a device, the lane if it is of that."""
        if device is self._device:
            return self.lane
        stream = self._taken.get(device)
        if stream is None:
            stream = self._taken[device] = self._streams.take(device)
        return stream.twin
