"""Data that the cases of Pad do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack

__all__ = ["LACKS"]

LACKS: Final = (
    Lack("pad", "designed", "elements are moved without being looked at, so that random bits tell as much"),
)
