"""Data that the cases of ElementwiseUnary do not have, with the reasons."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.lack import Lack

__all__ = ["LACKS"]

LACKS: Final = (
    Lack(
        "elementwise_unary",
        "exact",
        "which formula a complex function takes is free, and so is its last bit everywhere",
        ("complex",),
    ),
)
