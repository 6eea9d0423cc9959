"""Data that the cases of Dequantize do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack

__all__ = ["LACKS"]

LACKS: Final = (
    Lack("dequantize", "exact", "scales are random: no case has powers of two, whose products would be exact"),
)
