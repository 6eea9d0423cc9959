"""The samples of Iota."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import SIZES, Sample
from ep_primitives.families.iota import Iota

__all__ = ["SAMPLES"]

SAMPLES: Final = [
    Sample("1Mi", Iota.infer(TensorSpec("int64", (SIZES["1Mi"],)))),
    Sample("16Mi", Iota.infer(TensorSpec("int32", (SIZES["16Mi"],)))),
]
