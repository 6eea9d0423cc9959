"""The samples of Copy: dense, and of every other column."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import SIZES, Sample
from ep_primitives.families.copy import Copy

__all__ = ["SAMPLES"]

SAMPLES: Final = [
    *(
        Sample(size, Copy.infer(TensorSpec("float32", (SIZES[size],))), is_quick=size != "16Mi")
        for size in ("64Ki", "1Mi", "16Mi")
    ),
    Sample(
        "half-of-4096x4096",
        Copy(x=TensorSpec("float32", (4096, 2048), (4096, 1)), out=TensorSpec("float32", (4096, 2048))),
    ),
]
