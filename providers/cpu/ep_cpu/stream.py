"""The CPU stream: each verb is done when it returns; ep.WorkerStream makes asynchronous ones of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ep
from ep_cpu.event import CpuEvent
from ep_cpu.native import check

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["CpuStream"]


class CpuStream(ep.Stream):
    """A queue that is always empty: the calling thread, with the pool's help, does the work at once."""

    def __init__(self, device: ep.Device, native: Native, *, is_timed: bool) -> None:
        super().__init__(device, is_synchronous=True, is_timed=is_timed)
        self._native = native

    def _copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        check(self._native.lib.ep_copy(self._address(dst), self._address(src), nbytes), "ep_copy")

    def _synchronize(self) -> None:
        """Wait for nothing: all is done already."""

    def _fill(self, dst: ep.Memory, pattern: bytes) -> None:
        check(self._native.lib.ep_fill(self._address(dst), dst.nbytes, pattern, len(pattern)), "ep_fill")

    def _record(self, *, timed: bool) -> ep.Event:
        return CpuEvent(self, self._native.lib.ep_clock() if timed else None)

    def _can_wait(self, event: ep.Event) -> bool:
        del event
        return True

    def _wait(self, event: ep.Event) -> None:
        """Wait in the thread that does this stream's work: there is no device apart from the host."""
        event._wait_done()  # noqa: SLF001 - the way EP gives providers

    def _is_idle(self) -> bool:
        return True

    def _address(self, side: ep.Memory | memoryview) -> int:
        if isinstance(side, ep.Memory):
            address: int = side.handle + side.offset
        else:
            ffi = self._native.ffi
            address = int(ffi.cast("intptr_t", ffi.from_buffer(side)))
        return address
