"""The CPU event: a point that is passed as soon as it exists."""

from __future__ import annotations

import ep

__all__ = ["CpuEvent"]


class CpuEvent(ep.spi.Event):
    """A moment of the device's clock, in nanoseconds; 0 if untimed."""

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds = nanoseconds

    def is_done(self) -> bool:
        return True

    def seconds_since(self, earlier: CpuEvent) -> float:
        return (self.nanoseconds - earlier.nanoseconds) * 1e-9
