"""Data that the cases of RandomFill do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack

__all__ = ["LACKS"]

LACKS: Final = (
    Lack("random_fill", "exact", "no quantile is a number of the type", ("normal/",)),
    Lack("random_fill", "parts", "it has no rows"),
)
