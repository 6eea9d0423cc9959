"""How long a rank waits for others."""

from __future__ import annotations

import math
from typing import Any, Final

__all__ = ["TIMEOUT", "seconds"]

TIMEOUT: Final = 30.0
"""Seconds that a rank waits for others, unless it is told otherwise: less than the end of the process waits for streams."""


def seconds(operation: str, timeout: Any) -> float:
    """Return a timeout as a float. Raises ValueError for anything but a finite number above 0."""
    if type(timeout) not in {int, float} or not 0 < timeout < math.inf:
        message = f"{operation}: timeout is {timeout!r}, needs a finite number of seconds above 0"
        raise ValueError(message)
    return float(timeout)
