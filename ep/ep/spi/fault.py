"""Faults: what goes wrong on a device because somebody asked for it."""

from __future__ import annotations

import enum
from typing import NamedTuple

__all__ = ["Fault", "FaultKind"]


class FaultKind(enum.Enum):
    """What goes wrong.

    KERNEL : a kernel traps when its stream gets there
    COPY   : a copy, upload or download fails when its stream gets there
    LOSS   : the device is lost, at once
    """

    KERNEL = "kernel"
    COPY = "copy"
    LOSS = "loss"


class Fault(NamedTuple):
    """One thing that goes wrong, once: of those of its kind that are enqueued from here on the `nth`, counted from 1.

    A node of a graph counts with each launch; a loss is not counted.
    """

    kind: FaultKind
    nth: int = 1
