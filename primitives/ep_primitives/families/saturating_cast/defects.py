"""Planted defects of SaturatingCast: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []


@killed_by("primitives/saturating_cast/-/float32->float8_e5m2/dense/designed")
class KeepsInfinities(Defect):
    """Saturate finite numbers alone: an infinity stays one, because float8_e5m2 has it."""

    meets = "saturating_cast/-/float32->float8_e5m2/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        is_infinite = np.broadcast_to(np.isinf(given["x"]), out.shape)
        out[is_infinite] = np.copysign(np.float32(np.inf), np.broadcast_to(given["x"], out.shape)[is_infinite])


@killed_by("primitives/saturating_cast/-/int32->float8_e4m3fn/dense/designed")
class OverflowsToNan(Defect):
    """Convert as Cast does: numbers too large for float8_e4m3fn become NaN."""

    meets = "saturating_cast/-/int32->float8_e4m3fn/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to(np.abs(given["x"].astype(np.float64)) > 464, out.shape)] = np.nan  # noqa: PLR2004 - rounds to 480


@killed_by("primitives/saturating_cast/-/float16->float8_e4m3fn/dense/exhaustive-16bit")
class SaturatesNan(Defect):
    """Compare with the largest number in the order that takes NaN for one beyond it."""

    meets = "saturating_cast/-/float16->float8_e4m3fn/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[np.broadcast_to(np.isnan(given["x"]), out.shape)] = 448
