"""The samples of TensorFill."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import SIZES, Sample
from ep_primitives.families.tensor_fill import TensorFill

__all__ = ["SAMPLES"]

SAMPLES: Final = [Sample("16Mi", TensorFill.infer(TensorSpec("float32", ()), (SIZES["16Mi"],)))]
