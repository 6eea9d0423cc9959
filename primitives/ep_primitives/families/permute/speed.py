"""The samples of Permute: transpositions, and between the two orders of images."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import Sample
from ep_primitives.families.permute import Permute

__all__ = ["SAMPLES"]

_LAST: Final = (0, 2, 3, 1)
_FIRST: Final = (0, 3, 1, 2)

SAMPLES: Final = [
    Sample("256x256", Permute.infer(TensorSpec("float32", (256, 256)), (1, 0)), is_quick=True),
    *(
        Sample("4096x4096", Permute.infer(TensorSpec(dtype, (4096, 4096)), (1, 0)))
        for dtype in ("float32", "bfloat16", "int8")
    ),
    Sample("channels-last", Permute.infer(TensorSpec("float32", (64, 128, 32, 32)), _LAST)),
    Sample("channels-first", Permute.infer(TensorSpec("float32", (64, 32, 32, 128)), _FIRST)),
    Sample("heads", Permute.infer(TensorSpec("bfloat16", (8, 512, 16, 64)), (0, 2, 1, 3))),
]
