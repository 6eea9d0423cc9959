"""Data that the cases of ArgReduce do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack

__all__ = ["LACKS"]

LACKS: Final = (
    Lack(
        "arg_reduce",
        "designed",
        "nothing is rounded, and random rows hold the designed values, too: ends of types, one unlike the others, NaN, ties",
    ),
)
