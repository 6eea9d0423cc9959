"""Planted defects of families that make one number, or a row, of each row: their edges, and who shares the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from ep_conformance.saboteurs.determinism import SumsRows
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.values import ArrayKernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    import ep
    from ep_conformance.saboteurs.implementations import HonestKernel

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


class _FindsTheLastOfTies(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family != "arg_reduce" or of.op != "max" or not of.out.size:
            return
        x, out = self.array(operands, "x"), self.array(operands, "out")
        rows = x.reshape(1, -1) if of.axis is None or not x.ndim else np.moveaxis(x, of.axis, -1)
        if x.dtype.kind != "f" or np.isfinite(x).all():
            out[...] = (rows.shape[-1] - 1 - rows[..., ::-1].argmax(-1)).reshape(out.shape)


class FindsTheLastOfTies(HonestProvider):
    """Let the last of equal elements be the place of the maximum, as a search with >= does."""

    kernel_type: ClassVar[type[HonestKernel]] = _FindsTheLastOfTies


class _ZeroesRowsOfMinusInfinity(ArrayKernel):
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


class ZeroesRowsOfMinusInfinity(HonestProvider):
    """Let the softmax of a row of -inf be zeros, as kernels of attention do for rows that are masked out."""

    kernel_type: ClassVar[type[HonestKernel]] = _ZeroesRowsOfMinusInfinity


class _MaximumOfNothingIsZero(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "reduce" and of.op == "max" and not of.terms and of.out.size:
            out = self.array(operands, "out")
            out[...] = np.zeros((), out.dtype)


class MaximumOfNothingIsZero(HonestProvider):
    """Begin maxima at 0, which shows where there is nothing to be reduced."""

    kernel_type: ClassVar[type[HonestKernel]] = _MaximumOfNothingIsZero


class _TakesTheFirstZero(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "reduce" and of.op == "max" and of.out.dtype == "float32" and of.axes == (1,):
            x, out = self.array(operands, "x"), self.array(operands, "out").reshape(-1)
            if x.ndim == 2 and x.size:  # noqa: PLR2004 - a matrix
                first = np.take_along_axis(x, x.argmax(1)[:, None], 1)[:, 0]
                out[...] = np.where(out == 0, first, out)


class TakesTheFirstZero(HonestProvider):
    """Let the maximum of -0 and +0 be the one that comes first."""

    kernel_type: ClassVar[type[HonestKernel]] = _TakesTheFirstZero


class _SharesTermsAmongThreads(SumsRows):
    def sum_rows(self, x: Array, out: Array) -> None:
        begins = [thread * x.size // _THREADS for thread in range(_THREADS)]
        for row, terms in enumerate(x):
            cuts = [begin - row * terms.size for begin in begins if 0 < begin - row * terms.size < terms.size]
            out[row] = np.float32(0)
            for part in np.split(terms, cuts):
                out[row] += np.add.accumulate(part)[-1]


class SharesTermsAmongThreads(HonestProvider):
    """Give each of three threads a third of all terms, so that the row in which a third ends is summed in another order."""

    kernel_type: ClassVar[type[HonestKernel]] = _SharesTermsAmongThreads


class _ScalesManyRows(ArrayKernel):
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


class ScalesManyRows(HonestProvider):
    """Multiply by the reciprocal of the sum where there are several rows, and divide where there is one."""

    kernel_type: ClassVar[type[HonestKernel]] = _ScalesManyRows


class _RoundsEachTerm(ArrayKernel):
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


class RoundsEachTerm(HonestProvider):
    """Sum tensors of float16 in float16, rounded after each, not once at the end."""

    kernel_type: ClassVar[type[HonestKernel]] = _RoundsEachTerm
