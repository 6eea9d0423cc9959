"""The samples of SaturatingCast."""

from __future__ import annotations

from typing import Final

from ep import TensorSpec
from ep_primitives.cases.sample import CACHED, SIZES, Sample
from ep_primitives.families.saturating_cast import SaturatingCast

__all__ = ["SAMPLES"]


def _cast(size: str) -> SaturatingCast:
    return SaturatingCast.infer(TensorSpec("float32", (SIZES[size],)), "float8_e4m3fn")


SAMPLES: Final = [Sample("1Mi", _cast("1Mi"), cached=_cast(CACHED))]
