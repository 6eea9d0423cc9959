"""Planted defects of Scan: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []

_BLOCK = 1024
_CHAIN = 64


class _ScanDefect(Defect):
    """Spoils scans of the cells that it is meant for; `x` and `out` have rows along their last axis, which begin at its front."""

    meets: ClassVar[str]

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if not out.ndim:
            return
        x, made = (np.moveaxis(each, of.axis, -1) for each in (given["x"], out))
        way = slice(None, None, -1 if of.reverse else 1)
        self.scan(x[..., way], made[..., way])

    def scan(self, x: Array, out: Array) -> None:
        raise NotImplementedError


@killed_by("primitives/scan/sum/float32/dense/3x1025")
class ForgetsWhatCameBeforeItsBlock(_ScanDefect):
    """Begin each block of 1024 elements anew."""

    meets = "scan/sum/float32/dense"

    def scan(self, x: Array, out: Array) -> None:
        of: Any = self.descriptor
        if not of.exclusive:
            for begin in range(0, x.shape[-1], _BLOCK):
                out[..., begin : begin + _BLOCK] = np.cumsum(x[..., begin : begin + _BLOCK], -1)


@killed_by("primitives/scan/sum/float32/dense/chains")
class AddsOneByOne(_ScanDefect):
    """Add thousands of terms one after the other in float32."""

    meets = "scan/sum/float32/dense"

    def scan(self, x: Array, out: Array) -> None:
        of: Any = self.descriptor
        if x.shape[-1] > _CHAIN and not of.exclusive:
            with np.errstate(all="ignore"):
                out[...] = np.cumsum(x, -1, dtype=np.float32)


@killed_by("primitives/scan/sum/float16/dense/rows")
class RoundsEachPartialSum(_ScanDefect):
    """Round every partial sum of float16 before the next term is added."""

    meets = "scan/sum/float16/dense"

    def scan(self, x: Array, out: Array) -> None:
        of: Any = self.descriptor
        if not of.exclusive:
            with np.errstate(all="ignore"):
                out[...] = np.cumsum(x, -1, dtype=np.float16)


@killed_by("primitives/scan/max/float32/dense/exclusive")
class BeginsMaximaAtZero(_ScanDefect):
    """Begin an exclusive maximum at 0."""

    meets = "scan/max/float32/dense"

    def scan(self, x: Array, out: Array) -> None:
        of: Any = self.descriptor
        if of.exclusive and x.shape[-1]:
            out[..., 0] = 0


@killed_by("primitives/scan/min/float32/dense/not-finite")
class TakesTheLesserOfNan(_ScanDefect):
    """Take the other number wherever one is NaN, with which no comparison is true."""

    meets = "scan/min/float32/dense"

    def scan(self, x: Array, out: Array) -> None:
        of: Any = self.descriptor
        if not of.exclusive:
            out[...] = np.fmin.accumulate(x, -1)


@killed_by("primitives/scan/prod/int32/dense/reverse")
class NeverReverses(_ScanDefect):
    """Begin at the front, ignoring `reverse`."""

    meets = "scan/prod/int32/dense"

    def scan(self, x: Array, out: Array) -> None:
        of: Any = self.descriptor
        if of.reverse and not of.exclusive:
            out[..., ::-1] = np.cumprod(x[..., ::-1], -1, dtype=x.dtype)


@killed_by("primitives/scan/sum/float32/strided/windows")
class CarriesIntoTheNextRow(_ScanDefect):
    """Go on with the sum of the row before, as if the matrix were one row."""

    meets = "scan/sum/float32/strided"

    def scan(self, x: Array, out: Array) -> None:
        if x.ndim == 2 and len(x) > 1:  # noqa: PLR2004 - a matrix
            out[1] += x[0].sum()
