"""The samples of ConvolutionTransposed."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.convolution_transposed import ConvolutionTransposed

__all__ = ["SAMPLES"]

_X: Final = TensorSpec("float32", (1, 32, 28, 28))

SAMPLES: Final = [
    Sample("32x28x28-by-2x2", ConvolutionTransposed.infer(_X, TensorSpec("float32", (32, 32, 2, 2)), strides=2)),
]
