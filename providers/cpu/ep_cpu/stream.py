"""The CPU stream: each verb is done when it returns; ep.spi.Worker makes asynchronous ones of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ep
from ep_cpu.event import CpuEvent
from ep_cpu.native import check

if TYPE_CHECKING:
    from ep_cpu.native import Native

__all__ = ["CpuStream"]


class CpuStream(ep.spi.Stream):
    """A queue that is always empty: the calling thread, with the pool's help, does the work at once."""

    def __init__(self, ledger: ep.spi.Ledger, native: Native, *, is_timed: bool) -> None:
        super().__init__(ledger, is_synchronous=True, is_timed=is_timed)
        self._native = native

    def copy(self, dst: ep.Memory | memoryview, src: ep.Memory | memoryview, nbytes: int) -> None:
        check(self._native.lib.ep_copy(self._address(dst), self._address(src), nbytes), "ep_copy")

    def synchronize(self) -> None:
        """Wait for nothing: all is done already."""

    def fill(self, dst: ep.Memory, pattern: bytes) -> None:
        check(self._native.lib.ep_fill(self._address(dst), dst.nbytes, pattern, len(pattern)), "ep_fill")

    def record(self, *, timed: bool) -> CpuEvent:
        return CpuEvent(self._native.lib.ep_clock() if timed else 0)

    def can_wait(self, event: ep.Event) -> bool:
        del event
        return True

    def wait(self, event: ep.Event) -> None:
        """Wait in the thread that does this stream's work: there is no device apart from the host."""
        ep.spi.let_host_wait(self, event)

    def is_idle(self) -> bool:
        return True

    def _address(self, side: ep.Memory | memoryview) -> Any:
        """Return cffi's pointer to the bytes."""
        return side.handle + side.offset if isinstance(side, ep.Memory) else self._native.ffi.from_buffer(side)
