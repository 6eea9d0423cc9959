"""Planted defects of Fill: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []


@killed_by("primitives/fill/-/float32/dense/value-negative-zero")
class ClearsForAnyZero(Defect):
    """Clear the bytes where the number equals 0, -0 too."""

    meets = "fill/-/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["value"] == 0:
            out[...] = 0


@killed_by("primitives/fill/-/int32/dense/value-bytes")
class FillsWithOneByte(Defect):
    """Fill with the lowest byte of the number, as memset does."""

    meets = "fill/-/int32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.int32((given["value"] & 127) * 0x01010101)


@killed_by("primitives/fill/-/float64/dense/value-third")
class FillsThroughFloat32(Defect):
    """Hand numbers of float64 over as float32."""

    meets = "fill/-/float64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = np.float32(given["value"])


@killed_by("primitives/fill/-/uint64/dense/value-high")
class FillsThroughInt64(Defect):
    """Hand numbers of uint64 over as int64, at most 2^63 - 1."""

    meets = "fill/-/uint64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out[...] = min(given["value"], 2**63 - 1)
