"""Data that the cases of Convolution do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack, Ranks

__all__ = ["LACKS", "RANKS"]

LACKS: Final = (
    Lack("convolution", "parts", "which tree a product takes is the provider's choice, of parts of it, too"),
    Lack(
        "convolution",
        "large",
        "few devices have a kernel of it, which counts bytes in 64 bits; what it lowers to has large cases",
    ),
)

RANKS: Final = (Ranks("convolution", least=1, most=8),)
