"""Planted defects of Dequantize and Quantize: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []


@killed_by("primitives/quantize/-/float32->int8/dense/ties")
class RoundsHalvesUp(Defect):
    """Round halves up, by adding a half and taking the floor."""

    owns: ClassVar[tuple[str, ...]] = ("quantize",)
    meets = "quantize/-/float32->int8/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if of.block is None:
            steps = np.floor(given["x"] / given["scale"] + np.float32(0.5)) + given.get("zero_point", np.float32(0))
            out[...] = np.where(np.isnan(steps), 0, np.clip(steps, -128, 127)).astype(np.int8)


@killed_by("primitives/dequantize/-/int8->float32/dense/channels")
class WrapsAroundTheZeroPoint(Defect):
    """Take the zero point off in the type of x, where the difference wraps."""

    owns: ClassVar[tuple[str, ...]] = ("dequantize",)
    meets = "dequantize/-/int8->float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if of.block is None and "zero_point" in given:
            out[...] = (given["x"] - given["zero_point"]) * given["scale"]
