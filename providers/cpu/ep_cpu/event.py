"""The CPU event: a point that is passed as soon as it exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ep

if TYPE_CHECKING:
    from ep_cpu.stream import CpuStream

__all__ = ["CpuEvent"]


class CpuEvent(ep.Event):
    """A moment of the device's clock, in nanoseconds; None if untimed."""

    def __init__(self, stream: CpuStream, nanoseconds: int | None) -> None:
        super().__init__(stream, is_timed=nanoseconds is not None)
        self.nanoseconds = nanoseconds or 0

    def _is_done(self) -> bool:
        return True

    def _seconds_since(self, earlier: ep.Event) -> float:
        assert isinstance(earlier, CpuEvent)
        return (self.nanoseconds - earlier.nanoseconds) * 1e-9
