"""Planted defects of ArgReduce: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel
from ep_conformance.saboteurs.row_defect import BLOCK, RowDefect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


@killed_by("primitives/arg_reduce/max/float32->int64/dense/ties")
class FindsTheLastOfTies(ArrayKernel):
    """Let the last of equal elements be the place of the maximum, as a search with >= does."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family != "arg_reduce" or of.op != "max" or not of.out.size:
            return
        x, out = self.array(operands, "x"), self.array(operands, "out")
        rows = x.reshape(1, -1) if of.axis is None or not x.ndim else np.moveaxis(x, of.axis, -1)
        if x.dtype.kind != "f" or np.isfinite(x).all():
            out[...] = (rows.shape[-1] - 1 - rows[..., ::-1].argmax(-1)).reshape(out.shape)


@killed_by("primitives/arg_reduce/max/float32->int64/dense/nan")
class PassesOverNan(RowDefect):
    """Pass over NaN, with which no comparison is true, unless the row begins with one."""

    meets = "arg_reduce/max/float32->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = np.where(np.isnan(rows[..., 0]), out, np.where(np.isnan(rows), -np.inf, rows).argmax(-1))


@killed_by("primitives/arg_reduce/min/float64->int64/dense/length-4097")
class CountsInItsBlock(RowDefect):
    """Give the place in the block of 1024 that an extreme lies in."""

    meets = "arg_reduce/min/float64->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        del rows
        out %= BLOCK


@killed_by("primitives/arg_reduce/max/int8->int64/dense/ties-70001")
class CountsPlacesIn16Bits(RowDefect):
    """Count places in 16 bits."""

    meets = "arg_reduce/max/int8->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        del rows
        out &= 0xFFFF


@killed_by("primitives/arg_reduce/max/int32->int64/strided/negative")
class CountsPlacesInMemory(RowDefect):
    """Count places from the lowest address, where an axis goes backwards."""

    meets = "arg_reduce/max/int32->int64/strided"

    def reduce(self, rows: Array, out: Array) -> None:
        x: Any = self.descriptor.specs[0]
        if min(x.strides) < 0:
            out[...] = rows.shape[-1] - 1 - out


@killed_by("primitives/arg_reduce/min/uint8->int64/dense/ties")
class JoinsBlocksLastFirst(RowDefect):
    """Join the two halves of a row by <=, so that among equal elements one of the second half wins."""

    meets = "arg_reduce/min/uint8->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        half = rows.shape[-1] // 2
        if half:
            first, second = rows[..., :half], rows[..., half:]
            out[...] = np.where(second.min(-1) <= first.min(-1), half + second.argmin(-1), first.argmin(-1))


@killed_by("primitives/arg_reduce/max/int64/dense/ends")
class ComparesPlacesInFloat64(RowDefect):
    """Compare int64 as float64, in which the largest equals its neighbours."""

    meets = "arg_reduce/max/int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = rows.astype(np.float64).argmax(-1)
