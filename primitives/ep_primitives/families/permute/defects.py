"""Planted defects of Permute: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []


_TILE: Final = 16


@killed_by("primitives/permute/-/float32/dense/33x17")
class LeavesOutTheCornerTile(Defect):
    """Transpose whole tiles, the rest of each row and of each column, but not the rest in the corner."""

    owns = ("permute",)
    meets = "permute/-/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if out.ndim > 1:
            corner: Any = (..., *(slice(extent // _TILE * _TILE, None) for extent in out.shape[-2:]))
            out[corner] = given["out"][corner]


@killed_by("primitives/permute/-/complex128/dense/128x128")
class MovesEightOfSixteenBytes(Defect):
    """Move elements of 16 bytes as 8 where both dimensions are whole tiles."""

    owns = ("permute",)
    meets = "permute/-/complex128/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if out.ndim > 1 and not any(extent % _TILE for extent in out.shape[-2:]):
            out.imag = given["out"].imag


@killed_by("primitives/permute/-/uint8/dense/rank-4-3-2-1-0")
class IsOffByOneInTheFourthAxis(Defect):
    """Swap the first two of the remaining axes where a permutation of four reverses."""

    owns = ("permute",)
    meets = "permute/-/uint8/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if tuple(self.descriptor.attributes) == (3, 2, 1, 0):
            out[...] = given["x"].transpose(3, 2, 0, 1).reshape(out.shape)


@killed_by("primitives/permute/-/float32/dense/rank-3-1-2-0")
class PermutesBackwards(Defect):
    """Permute by the inverse of the permutation, which is another one where three dimensions rotate."""

    owns = ("permute",)
    meets = "permute/-/*/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        out[...] = given["x"].transpose(np.argsort(of.permutation)).reshape(out.shape)
