"""Planted defects of Reduce: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.overlap import is_windows
from ep_conformance.saboteurs.row_defect import BLOCK, RowDefect
from ep_conformance.saboteurs.saboteur import killed_by
from ep_conformance.saboteurs.themes.determinism import SumsRows

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


_THREADS: Final = 3


@killed_by("primitives/reduce/max/float32/empty/no-terms")
class MaximumOfNothingIsZero(ArrayKernel):
    """Begin maxima at 0, which shows where there is nothing to be reduced."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "reduce" and of.op == "max" and not of.terms and of.out.size:
            out = self.array(operands, "out")
            out[...] = np.zeros((), out.dtype)


@killed_by("primitives/reduce/max/float32/dense/signed-zeros")
class TakesTheFirstZero(ArrayKernel):
    """Let the maximum of -0 and +0 be the one that comes first."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "reduce" and of.op == "max" and of.out.dtype == "float32" and of.axes == (1,):
            x, out = self.array(operands, "x"), self.array(operands, "out").reshape(-1)
            if x.ndim == 2 and x.size:  # noqa: PLR2004 - a matrix
                first = np.take_along_axis(x, x.argmax(1)[:, None], 1)[:, 0]
                out[...] = np.where(out == 0, first, out)


@killed_by("primitives/reduce/sum/float32/dense/one-sign")
class SharesTermsAmongThreads(SumsRows):
    """Give each of three threads a third of all terms, so that the row in which a third ends is summed in another order."""

    def sum_rows(self, x: Array, out: Array) -> None:
        begins = [thread * x.size // _THREADS for thread in range(_THREADS)]
        for row, terms in enumerate(x):
            cuts = [begin - row * terms.size for begin in begins if 0 < begin - row * terms.size < terms.size]
            out[row] = np.float32(0)
            for part in np.split(terms, cuts):
                out[row] += np.add.accumulate(part)[-1]


@killed_by("primitives/reduce/sum/float16/dense/length-1025")
class SumsInFloat16(RowDefect):
    """Sum float16 in float16."""

    meets = "reduce/sum/float16/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        if rows.shape[-1]:
            out[...] = np.add.accumulate(rows, -1)[..., -1]


@killed_by("primitives/reduce/sum/int8->int64/dense/near-the-end")
class SumsBytesIn16Bits(RowDefect):
    """Sum bytes into int64 in accumulators of 16 bits."""

    meets = "reduce/sum/int8->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = rows.astype(np.int16).sum(-1, dtype=np.int16)


@killed_by("primitives/reduce/sum/int32->int64/dense/length-17")
class SumsInTheTypeOfItsTerms(RowDefect):
    """Sum int32 into int64 in int32."""

    meets = "reduce/sum/int32->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = rows.sum(-1, dtype=np.int32)


@killed_by("primitives/reduce/sum/float32->float64/dense/rows")
class WidensTheSum(RowDefect):
    """Sum float32 into float64 in float32, and widen the result."""

    meets = "reduce/sum/float32->float64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = rows.sum(-1, dtype=np.float32)


@killed_by("primitives/reduce/mean/float32/empty/no-terms")
class MeansNothingAsZero(RowDefect):
    """Divide the sum of nothing by at least 1, so that the mean of nothing is 0."""

    meets = "reduce/mean/float32/*"

    def reduce(self, rows: Array, out: Array) -> None:
        if not rows.shape[-1]:
            out[...] = 0


@killed_by("primitives/reduce/mean/float32/dense/length-17")
class DividesByWholeVectors(RowDefect):
    """Divide a mean by the number of lanes that were summed, not of elements."""

    meets = "reduce/mean/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        length = rows.shape[-1]
        out *= np.float32(length / (-(-length // 16) * 16))


@killed_by("primitives/reduce/max/float16/dense/rows")
class StartsMaximaAtTheLeastPositive(RowDefect):
    """Start maxima at the type's `min`, which is its smallest positive normal number."""

    meets = "reduce/max/float16/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        del rows
        np.maximum(out, np.float16(2**-14), out=out)


@killed_by("primitives/reduce/min/float32/dense/not-finite")
class LosesNanInVectors(RowDefect):
    """Let NaN get lost in minima, as vector instructions do, unless it comes last."""

    meets = "reduce/min/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        if rows.shape[-1]:
            out[...] = np.where(np.isnan(rows[..., -1]), out, np.fmin.reduce(rows, -1))


@killed_by("primitives/reduce/any/float32->bool/dense/columns")
class TakesNanForFalse(RowDefect):
    """Let NaN be false, as x < 0 or x > 0 does."""

    meets = "reduce/any/float32->bool/*"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = ((rows < 0) | (rows > 0)).any(-1)


@killed_by("primitives/reduce/norm_2/float32/dense/every-magnitude")
class OverflowsInNorms(RowDefect):
    """Take the root of squares that overflow and vanish."""

    meets = "reduce/norm_2/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        squares = (rows * rows).sum(-1)
        out[...] = np.where((squares == 0) | np.isinf(squares), np.sqrt(squares), out)


@killed_by("primitives/reduce/log_sum_exp/float32/dense/shifted")
class SumsExponentialsUnshifted(RowDefect):
    """Sum exponentials without the maximum taken off, so that they overflow."""

    meets = "reduce/log_sum_exp/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        sums = np.exp(rows).sum(-1)
        out[...] = np.where(np.isinf(sums) | (sums == 0), np.log(sums), out)


@killed_by("primitives/reduce/prod/float32/dense/signed-zeros")
class LosesTheSignOfProducts(RowDefect):
    """Let a product that is zero be +0."""

    meets = "reduce/prod/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        del rows
        out[out == 0] = 0


@killed_by("primitives/reduce/sum_of_squares/complex64->float32/dense/rows")
class SquaresRealParts(RowDefect):
    """Sum the squares of the real parts of complex numbers."""

    meets = "reduce/sum_of_squares/complex64->float32/*"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = (rows.real**2).sum(-1)


@killed_by("primitives/reduce/sum/float32/dense/not-finite")
class LeavesNanOut(RowDefect):
    """Leave NaN out of sums, as if they were not there."""

    meets = "reduce/sum/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = np.where(np.isnan(out), np.nansum(rows, -1), out)


@killed_by("primitives/reduce/log_sum_exp/float32/dense/not-finite")
class SubtractsInfinities(RowDefect):
    """Take the maximum off a row of -inf, which gives NaN."""

    meets = "reduce/log_sum_exp/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        del rows
        out[np.isneginf(out)] = np.nan


@killed_by("primitives/reduce/all/bool/dense/rows")
class AndsOntoTheOutput(Defect):
    """Begin a conjunction with the output's old contents, if there are terms."""

    meets = "reduce/all/*/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["x"].size:
            before = np.ascontiguousarray(given["out"])
            out &= before.view(np.uint8).reshape(before.shape) != 0


@killed_by("primitives/reduce/min/float32/dense/rows")
class TakesMinimaOfTheOutput(Defect):
    """Take minima of terms and the output's old contents, by atomics without initialisation."""

    meets = "reduce/min/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["x"].size:
            np.minimum(out, given["out"], out=out)


@killed_by("primitives/reduce/max/float32/dense/all-2100003")
class ReducesAMillionTerms(RowDefect):
    """Join the results of 1024 blocks of 1024 terms, and forget the other blocks."""

    meets = "reduce/max/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        if rows.shape[-1] > BLOCK * BLOCK:
            out[...] = rows[..., : BLOCK * BLOCK].max(-1)


@killed_by("primitives/reduce/sum/float32/strided/windows")
class KeepsADimensionAStride(Defect):
    """Keep dimensions by their strides: of two with one stride, such as windows and their elements, one is lost."""

    meets = "reduce/sum/float32/strided"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if is_windows(of.x):
            kept = [axis for axis in range(of.x.ndim) if axis not in of.axes]
            within = {of.x.strides[axis] for axis in of.axes}
            first = tuple(
                slice(1) if axis in kept and of.x.strides[axis] in within else slice(None) for axis in range(of.x.ndim)
            )
            sums = given["x"][first].sum(of.axes, keepdims=out.ndim == of.x.ndim, dtype=out.dtype)
            out[...] = np.broadcast_to(sums, out.shape)
