"""The edge rules of BroadcastBinary, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "counts of bits",
        "shift_left, shift_right",
        "negative ones, and from the bits of the type on: 0; of a negative number to the right -1",
        (
            "primitives/broadcast_binary/shift_left/int32/dense/hard-pairs",
            "primitives/broadcast_binary/shift_right/int32/dense/hard-pairs",
        ),
    ),
)
