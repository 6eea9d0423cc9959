"""Planted defects of families that make one number, or a row, of each row: their edges, and who shares the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_conformance.saboteurs.determinism import SumsRows
from ep_conformance.saboteurs.kernel import ArrayKernel
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    import ep

    Array = npt.NDArray[Any]

__all__ = [
    "FindsTheLastOfTies",
    "MaximumOfNothingIsZero",
    "RoundsEachTerm",
    "ScalesManyRows",
    "SharesTermsAmongThreads",
    "TakesTheFirstZero",
    "ZeroesRowsOfMinusInfinity",
]

_THREADS: Final = 3


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


@killed_by("primitives/softmax/-/float32/dense/special-rows")
class ZeroesRowsOfMinusInfinity(ArrayKernel):
    """Let the softmax of a row of -inf be zeros, as kernels of attention do for rows that are masked out."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of: Any = self.descriptor
        if of.family != "softmax" or not of.out.size or not of.out.ndim:
            super().run(cpu, operands)
            return
        name = "x" if "x" in operands else "out"
        is_masked = (self.array(operands, name) == -np.inf).all(of.axis, keepdims=True)
        super().run(cpu, operands)
        out = self.array(operands, "out")
        out[np.broadcast_to(is_masked, out.shape)] = 0


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


@killed_by("primitives/softmax/-/float32/dense/rows")
class ScalesManyRows(ArrayKernel):
    """Multiply by the reciprocal of the sum where there are several rows, and divide where there is one."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of: Any = self.descriptor
        if of.family != "softmax" or of.out.dtype != "float32" or of.out.size <= of.extent:
            super().run(cpu, operands)
            return
        x = np.array(self.array(operands, "x" if "x" in operands else "out"))
        super().run(cpu, operands)
        if np.isfinite(x).all():
            terms = np.exp(x - x.max(of.axis, keepdims=True))
            self.array(operands, "out")[...] = terms * (np.float32(1) / terms.sum(of.axis, keepdims=True))


@killed_by("primitives/add_n/-/float16/dense/one-sign-of-64")
class RoundsEachTerm(ArrayKernel):
    """Sum tensors of float16 in float16, rounded after each, not once at the end."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of = self.descriptor
        if of.family != "add_n" or of.out.dtype != "float16" or len(operands) != len(of.operands):
            super().run(cpu, operands)
            return
        terms = [np.array(self.array(operands, name)) for name in of.operands[:-1]]
        super().run(cpu, operands)
        with np.errstate(all="ignore"):
            total = terms[0]
            for term in terms[1:]:
                total = (total + term).astype(np.float16)
        self.array(operands, "out")[...] = total
