"""The edge rules of Where, each with the cases that prove it."""

from __future__ import annotations

from typing import Final

from ep_primitives.judging.edge import EdgeRule

__all__ = ["RULES"]

RULES: Final = (
    EdgeRule(
        "conditions",
        "where",
        "any byte of a bool but 0, any integer but 0, is true",
        (
            "primitives/where/-/bool,float32->float32/dense/conditions",
            "primitives/where/-/int64,float32->float32/dense/conditions",
        ),
    ),
)
