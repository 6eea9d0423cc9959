"""How much memory a device has, and how long the memories of a case may be on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import ep

__all__ = ["capacity", "fitting"]

_LEAST: Final = 4096


def capacity(device: ep.Device) -> int | None:
    """Return how many bytes a device has, None if nobody says so."""
    return device.info.memory or device.memory_info().total


def fitting(device: ep.Device, nbytes: int, copies: int) -> int:
    """Return how long a memory may be of which the device is to hold so many at once: nbytes, on a small device less.

    Half of the device is left to what is there already, and to the pool.
    """
    total = capacity(device)
    return nbytes if total is None else min(nbytes, max(total // (2 * copies), _LEAST))
