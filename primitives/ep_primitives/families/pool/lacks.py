"""Data that the cases of Pool do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack, Ranks

__all__ = ["LACKS", "RANKS"]

LACKS: Final = (
    Lack(
        "pool",
        "exact",
        "it is held to the bounds of Reduce, whose rows have exact data; a few types have it here, too",
        ("average/", "norm_"),
    ),
    Lack(
        "pool",
        "large",
        "few devices have a kernel of it, which counts bytes in 64 bits; what it lowers to has large cases",
    ),
)

RANKS: Final = (Ranks("pool", least=3, most=8),)
