"""Calls of ConvolutionTransposed that succeed, for tests that spoil one argument after another."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.call import IMAGES, Call, both
from ep_primitives.families.convolution_transposed import ConvolutionTransposed

__all__ = ["CALLS"]

CALLS: Final[list[Call]] = both(
    ConvolutionTransposed,
    "convolution_transposed",
    {
        "x": IMAGES,
        "w": TensorSpec("float32", (3, 2, 3)),
        "bias": TensorSpec("float32", (6,)),
        "y": TensorSpec("float32", (2, 6, 19)),
        "strides": 2,
        "dilations": (2,),
        "pads": (1, 2),
        "groups": 3,
    },
    {
        "x": IMAGES,
        "w": TensorSpec("float32", (3, 4, 3)),
        "bias": TensorSpec("float32", (4,)),
        "strides": (2,),
        "dilations": 1,
        "pads": 0,
        "extra": 1,
        "groups": 1,
    },
)
