"""Data that the cases of Iota do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack

__all__ = ["LACKS"]

LACKS: Final = (Lack("iota", "parts", "it has no rows"),)
