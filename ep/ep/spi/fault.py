"""Faults that tests inject into a device."""

from __future__ import annotations

import enum
from typing import NamedTuple

__all__ = ["Fault", "FaultKind"]


class FaultKind(enum.Enum):
    """The kinds of faults.

    KERNEL : a kernel traps when its stream gets there
    COPY   : a copy, upload or download fails when its stream gets there
    LOSS   : the device is lost, at once
    """

    KERNEL = "kernel"
    COPY = "copy"
    LOSS = "loss"


class Fault(NamedTuple):
    """One fault, which happens once: in the `nth` enqueue of its kind from here on, counted from 1.

    A node of a graph counts with each launch; a loss is not counted.
    """

    kind: FaultKind
    nth: int = 1
