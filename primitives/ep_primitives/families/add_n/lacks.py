"""Data that the cases of AddN do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack

__all__ = ["LACKS"]

LACKS: Final = (
    Lack(
        "add_n",
        "designed",
        "nothing is rounded, and random rows hold the designed values, too: ends of types, one unlike the others, NaN, ties",
    ),
    Lack("add_n", "parts", "it has no rows"),
)
