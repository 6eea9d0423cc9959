"""The samples of Convolution: layers of images, of few weights and of many, and one a channel."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.convolution import Convolution

__all__ = ["SAMPLES"]

_X: Final = TensorSpec("float32", (1, 64, 56, 56))

SAMPLES: Final = [
    Sample("64x56x56-by-3x3", Convolution.infer(_X, TensorSpec("float32", (64, 64, 3, 3)), pads=1)),
    Sample("64x56x56-by-1x1", Convolution.infer(_X, TensorSpec("float32", (64, 64, 1, 1)))),
    Sample(
        "128x28x28-by-3x3",
        Convolution.infer(TensorSpec("float32", (1, 128, 28, 28)), TensorSpec("float32", (128, 128, 3, 3)), pads=1),
    ),
    Sample("64x56x56-depthwise", Convolution.infer(_X, TensorSpec("float32", (64, 1, 3, 3)), pads=1, groups=64)),
]
