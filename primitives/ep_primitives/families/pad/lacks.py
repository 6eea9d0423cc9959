"""What the cases of Pad lack, and why."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack

__all__ = ["LACKS"]

LACKS: Final = (
    Lack("pad", "designed", "elements are moved without being looked at, so that random bits tell as much"),
)
