"""The samples of Fill."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import SIZES, Sample
from ep_primitives.families.fill import Fill

__all__ = ["SAMPLES"]

SAMPLES: Final = [
    *(
        Sample(size, Fill.infer(TensorSpec("float32", (SIZES[size],))), is_quick=size == "64Ki")
        for size in ("64Ki", "16Mi")
    ),
    Sample("16Mi", Fill.infer(TensorSpec("bfloat16", (SIZES["16Mi"],)))),
]
