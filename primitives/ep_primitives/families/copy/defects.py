"""Planted defects of Copy: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.overlap import is_windows
from ep_conformance.saboteurs.saboteur import killed_by

from ep_primitives.judging import layout

__all__: list[str] = []


@killed_by("primitives/copy/-/float32/dense/size-257")
class QuietsNanOnTheWay(Defect):
    """Copy floats through registers of floats, which make signalling NaN quiet."""

    meets = "copy/-/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        bits = np.isnan(out)
        out[bits] = (out[bits].view(np.uint32) | np.uint32(1 << 22)).view(np.float32)


@killed_by("primitives/copy/-/bool/dense/designed")
class NormalizesBools(Defect):
    """Copy bools as truths, not as bytes."""

    meets = "copy/-/bool/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out.view(np.uint8)[...] = out.view(np.uint8) != 0


@killed_by("primitives/copy/-/float32/strided/windows-2d")
class CopiesTheSpan(Defect):
    """Copy the bytes from the first element of windows to the last, as if each had its own."""

    meets = "copy/-/float32/strided"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        x: Any = self.descriptor.specs[0]
        if is_windows(x):
            span = np.zeros(x.nbytes, np.uint8)
            layout.scatter(x, given["x"], span)
            out[...] = np.resize(span.view(out.dtype), out.shape)
