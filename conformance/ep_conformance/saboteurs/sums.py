"""Planted defects of Reduce, ArgReduce and AddN: accumulators, identities, overflow, NaN, places, terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []

_BLOCK: Final = 1024


class _Rows(Defect):
    """Spoils a reduction of rows: `rows` has them along its last axis, `out` one element for each."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        x = given["x"]
        axes = of.axes if of.family == "reduce" else range(x.ndim) if of.axis is None else (of.axis,)
        kept = [axis for axis in range(x.ndim) if axis not in set(axes)]
        rows = x.transpose(*kept, *sorted(axes)).reshape(*(x.shape[axis] for axis in kept), -1)
        if out.flags.c_contiguous:
            self.reduce(rows, out.reshape(rows.shape[:-1]))

    def reduce(self, rows: Array, out: Array) -> None:
        raise NotImplementedError


@killed_by("primitives/reduce/sum/float16/dense/length-1025")
class SumsInFloat16(_Rows):
    """Sum float16 in float16."""

    meets = "reduce/sum/float16/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        if rows.shape[-1]:
            out[...] = np.add.accumulate(rows, -1)[..., -1]


@killed_by("primitives/reduce/sum/int8->int64/dense/near-the-end")
class SumsBytesIn16Bits(_Rows):
    """Sum bytes into int64 in accumulators of 16 bits."""

    meets = "reduce/sum/int8->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = rows.astype(np.int16).sum(-1, dtype=np.int16)


@killed_by("primitives/reduce/sum/int32->int64/dense/length-17")
class SumsInTheTypeOfItsTerms(_Rows):
    """Sum int32 into int64 in int32."""

    meets = "reduce/sum/int32->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = rows.sum(-1, dtype=np.int32)


@killed_by("primitives/reduce/sum/float32->float64/dense/rows")
class WidensTheSum(_Rows):
    """Sum float32 into float64 in float32, and widen what comes of it."""

    meets = "reduce/sum/float32->float64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = rows.sum(-1, dtype=np.float32)


@killed_by("primitives/reduce/mean/float32/empty/no-terms")
class MeansNothingAsZero(_Rows):
    """Divide the sum of nothing by at least 1, so that the mean of nothing is 0."""

    meets = "reduce/mean/float32/*"

    def reduce(self, rows: Array, out: Array) -> None:
        if not rows.shape[-1]:
            out[...] = 0


@killed_by("primitives/reduce/mean/float32/dense/length-17")
class DividesByWholeVectors(_Rows):
    """Divide a mean by the number of lanes that were summed, not of elements."""

    meets = "reduce/mean/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        length = rows.shape[-1]
        out *= np.float32(length / (-(-length // 16) * 16))


@killed_by("primitives/reduce/max/float16/dense/rows")
class StartsMaximaAtTheLeastPositive(_Rows):
    """Start maxima at the type's `min`, which is its smallest positive normal number."""

    meets = "reduce/max/float16/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        del rows
        np.maximum(out, np.float16(2**-14), out=out)


@killed_by("primitives/reduce/min/float32/dense/not-finite")
class LosesNanInVectors(_Rows):
    """Let NaN get lost in minima, as vector instructions do, unless it comes last."""

    meets = "reduce/min/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        if rows.shape[-1]:
            out[...] = np.where(np.isnan(rows[..., -1]), out, np.fmin.reduce(rows, -1))


@killed_by("primitives/reduce/any/float32->bool/dense/columns")
class TakesNanForFalse(_Rows):
    """Let NaN be false, as x < 0 or x > 0 does."""

    meets = "reduce/any/float32->bool/*"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = ((rows < 0) | (rows > 0)).any(-1)


@killed_by("primitives/reduce/norm_2/float32/dense/every-magnitude")
class OverflowsInNorms(_Rows):
    """Take the root of squares that overflow and vanish."""

    meets = "reduce/norm_2/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        squares = (rows * rows).sum(-1)
        out[...] = np.where((squares == 0) | np.isinf(squares), np.sqrt(squares), out)


@killed_by("primitives/reduce/log_sum_exp/float32/dense/shifted")
class SumsExponentialsUnshifted(_Rows):
    """Sum exponentials without the maximum taken off, so that they overflow."""

    meets = "reduce/log_sum_exp/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        sums = np.exp(rows).sum(-1)
        out[...] = np.where(np.isinf(sums) | (sums == 0), np.log(sums), out)


@killed_by("primitives/reduce/prod/float32/dense/signed-zeros")
class LosesTheSignOfProducts(_Rows):
    """Let a product that is zero be +0."""

    meets = "reduce/prod/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        del rows
        out[out == 0] = 0


@killed_by("primitives/reduce/sum_of_squares/complex64->float32/dense/rows")
class SquaresRealParts(_Rows):
    """Sum the squares of the real parts of complex numbers."""

    meets = "reduce/sum_of_squares/complex64->float32/*"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = (rows.real**2).sum(-1)


@killed_by("primitives/arg_reduce/max/float32->int64/dense/nan")
class PassesOverNan(_Rows):
    """Pass over NaN, with which no comparison is true, unless the row begins with one."""

    meets = "arg_reduce/max/float32->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = np.where(np.isnan(rows[..., 0]), out, np.where(np.isnan(rows), -np.inf, rows).argmax(-1))


@killed_by("primitives/arg_reduce/min/float64->int64/dense/length-4097")
class CountsInItsBlock(_Rows):
    """Give the place in the block of 1024 that an extreme lies in."""

    meets = "arg_reduce/min/float64->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        del rows
        out %= _BLOCK


@killed_by("primitives/arg_reduce/max/int8->int64/dense/ties-70001")
class CountsPlacesIn16Bits(_Rows):
    """Count places in 16 bits."""

    meets = "arg_reduce/max/int8->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        del rows
        out &= 0xFFFF


@killed_by("primitives/arg_reduce/max/int32->int64/strided/negative")
class CountsPlacesInMemory(_Rows):
    """Count places from the lowest address, where an axis goes backwards."""

    meets = "arg_reduce/max/int32->int64/strided"

    def reduce(self, rows: Array, out: Array) -> None:
        x: Any = self.descriptor.specs[0]
        if min(x.strides) < 0:
            out[...] = rows.shape[-1] - 1 - out


@killed_by("primitives/arg_reduce/min/uint8->int64/dense/ties")
class JoinsBlocksLastFirst(_Rows):
    """Join the two halves of a row by <=, so that of equal elements one of the second half wins."""

    meets = "arg_reduce/min/uint8->int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        half = rows.shape[-1] // 2
        if half:
            first, second = rows[..., :half], rows[..., half:]
            out[...] = np.where(second.min(-1) <= first.min(-1), half + second.argmin(-1), first.argmin(-1))


@killed_by("primitives/add_n/-/int32/dense/size-65-of-64")
class AddsEightTerms(Defect):
    """Add as many terms as a kernel has arguments, eight, and forget the others."""

    meets = "add_n/-/int32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        terms = [given[name] for name in self.descriptor.operands[:-1]]
        for term in terms[8:]:
            out -= term


@killed_by("primitives/add_n/-/bool/dense/size-257-of-4")
class AddsBoolsModuloTwo(Defect):
    """Add bools as bits, so that true and true is false."""

    meets = "add_n/-/bool/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        total = np.zeros(out.shape, np.int64)
        for name in self.descriptor.operands[:-1]:
            total += given[name].view(np.uint8) != 0
        out[...] = total % 2 == 1


@killed_by("primitives/add_n/-/float32/inplace/x5-of-6")
class AddsOntoTheFirstTerm(ArrayKernel):
    """Put x0 into the output and add the others, one of which may have lain there."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of = self.descriptor
        if of.family == "add_n" and of.out.dtype == "float32":
            self.array(operands, "out")[...] = np.array(self.array(operands, "x0"))
        super().run(cpu, operands)


@killed_by("primitives/add_n/-/float32/dense/zeros-of-1")
class AddsToZero(Defect):
    """Begin sums at +0, which a sum of -0 does not survive."""

    meets = "add_n/-/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out += np.float32(0)


@killed_by("primitives/arg_reduce/max/int64/dense/ends")
class ComparesPlacesInFloat64(_Rows):
    """Compare int64 as float64, in which the largest equals its neighbours."""

    meets = "arg_reduce/max/int64/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = rows.astype(np.float64).argmax(-1)


@killed_by("primitives/reduce/sum/float32/dense/not-finite")
class LeavesNanOut(_Rows):
    """Leave NaN out of sums, as if they were not there."""

    meets = "reduce/sum/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        out[...] = np.where(np.isnan(out), np.nansum(rows, -1), out)


@killed_by("primitives/reduce/log_sum_exp/float32/dense/not-finite")
class SubtractsInfinities(_Rows):
    """Take the maximum off a row of -inf, which gives NaN."""

    meets = "reduce/log_sum_exp/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        del rows
        out[np.isneginf(out)] = np.nan


@killed_by("primitives/reduce/all/bool/dense/rows")
class AndsOntoTheOutput(Defect):
    """Begin a conjunction with what the output holds, where there are terms."""

    meets = "reduce/all/*/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["x"].size:
            before = np.ascontiguousarray(given["out"])
            out &= before.view(np.uint8).reshape(before.shape) != 0


@killed_by("primitives/reduce/min/float32/dense/rows")
class TakesMinimaOfTheOutput(Defect):
    """Take minima of terms and what the output holds, by atomics that nobody initialised for them."""

    meets = "reduce/min/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["x"].size:
            np.minimum(out, given["out"], out=out)


@killed_by("primitives/reduce/max/float32/dense/all-2100003")
class ReducesAMillionTerms(_Rows):
    """Join the results of 1024 blocks of 1024 terms, and forget the other blocks."""

    meets = "reduce/max/float32/dense"

    def reduce(self, rows: Array, out: Array) -> None:
        if rows.shape[-1] > _BLOCK * _BLOCK:
            out[...] = rows[..., : _BLOCK * _BLOCK].max(-1)
