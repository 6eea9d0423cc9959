"""Calls of Pool that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import IMAGES, Call, both
from ep_primitives.families.pool import Pool

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Pool,
    "average",
    {
        "x": IMAGES,
        "y": TensorSpec("float32", (2, 3, 4)),
        "window": 3,
        "strides": (2,),
        "dilations": (2,),
        "pads": (1, 2),
        "counts_pads": True,
    },
    {
        "x": IMAGES,
        "window": (3,),
        "strides": 2,
        "dilations": 1,
        "pads": 0,
        "counts_pads": False,
    },
    "pool/average",
)
