"""Calls of Convolution that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import IMAGES, Call, both
from ep_primitives.families.convolution import Convolution

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    Convolution,
    "convolution",
    {
        "x": IMAGES,
        "w": TensorSpec("float32", (6, 1, 3)),
        "bias": TensorSpec("float32", (6,)),
        "y": TensorSpec("float32", (2, 6, 4)),
        "strides": 2,
        "dilations": (2,),
        "pads": (1, 2),
        "groups": 3,
    },
    {
        "x": IMAGES,
        "w": TensorSpec("float32", (4, 3, 3)),
        "bias": TensorSpec("float32", (4,)),
        "strides": (2,),
        "dilations": 1,
        "pads": 0,
        "groups": 1,
    },
)
