"""The samples of SaturatingCast."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import SIZES, Sample
from ep_primitives.families.saturating_cast import SaturatingCast

__all__ = ["SAMPLES"]

SAMPLES: Final = [Sample("1Mi", SaturatingCast.infer(TensorSpec("float32", (SIZES["1Mi"],)), "float8_e4m3fn"))]
