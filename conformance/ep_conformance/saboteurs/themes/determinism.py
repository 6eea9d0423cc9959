"""Planted defects of determinism and of rounding: each result by itself is within its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from ep_conformance.saboteurs.kernel import ArrayKernel
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = [
    "ComputesTailsApart",
    "SumsRows",
    "SumsTheLastRowBackwards",
    "TruncatesProducts",
    "TruncatesSums",
    "WaversByAnUlp",
]

_LANES: Final = 16

Array = npt.NDArray[Any]


def _add_an_ulp(values: Array) -> None:
    """Replace each finite number by the next one."""
    with np.errstate(all="ignore"):
        values[...] = np.where(np.isfinite(values), np.nextafter(values, np.inf, dtype=values.dtype), values)


@killed_by("primitives/elementwise_unary/elu/float32/dense/size-17")
class WaversByAnUlp(ArrayKernel):
    """Add an ulp to the results of every second launch."""

    def __init__(self, descriptor: ep.Descriptor, cpu: ep.Device) -> None:
        super().__init__(descriptor, cpu)
        self._launches = 0

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        self._launches += 1
        if self.descriptor.op == "elu" and self.descriptor.out.dtype == "float32" and self._launches % 2:
            _add_an_ulp(self.array(operands, "out"))


@killed_by("primitives/elementwise_unary/elu/float32/dense/size-17")
class ComputesTailsApart(ArrayKernel):
    """Compute the elements that fill no vector of 16 by another formula, an ulp off."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        out = self.descriptor.out
        if self.descriptor.op == "elu" and out.dtype == "float32" and out.is_dense:
            _add_an_ulp(self.array(operands, "out").reshape(-1)[out.size // _LANES * _LANES :])


class SumsRows(ArrayKernel):
    """Does the sums over the last dimension of float32 matrices itself."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of = self.descriptor
        if (of.family, of.op, of.out.dtype, of.attributes) != ("reduce", "sum", "float32", (1,)):
            return
        x = self.array(operands, "x")
        if x.dtype == np.float32 and x.ndim == 2 and x.size and np.isfinite(x).all():  # noqa: PLR2004 - a matrix
            self.sum_rows(x, self.array(operands, "out").reshape(-1))

    def sum_rows(self, x: Array, out: Array) -> None:
        """Write the sums of x, shape (rows, terms), to out, shape (rows,), which holds right ones."""


@killed_by("primitives/reduce/sum/float32/dense/length-1025")
class SumsTheLastRowBackwards(SumsRows):
    """Sum the last row in another order than the rows before it."""

    def sum_rows(self, x: Array, out: Array) -> None:
        out[-1] = np.add.accumulate(x[-1, ::-1])[-1]


def _truncated(exact: Array) -> Array:
    """Return float64 as float32, rounded towards zero."""
    near = exact.astype(np.float32)
    is_beyond = np.abs(near.astype(np.float64)) > np.abs(exact)
    return np.asarray(np.where(is_beyond, np.nextafter(near, np.float32(0)), near))


@killed_by("primitives/reduce/sum/float32/dense/one-sign")
class TruncatesSums(SumsRows):
    """Sum rows in 16 lanes, each addition rounded towards zero."""

    def sum_rows(self, x: Array, out: Array) -> None:
        lanes = np.zeros((x.shape[0], _LANES), np.float32)
        for start in range(0, x.shape[1], _LANES):
            terms = x[:, start : start + _LANES].astype(np.float64)
            lanes[:, : terms.shape[1]] = _truncated(lanes[:, : terms.shape[1]] + terms)
        while lanes.shape[1] > 1:
            lanes = _truncated(lanes[:, 0::2].astype(np.float64) + lanes[:, 1::2])
        out[...] = lanes[:, 0]


@killed_by("primitives/matmul/-/float32/dense/one-sign")
class TruncatesProducts(ArrayKernel):
    """Round each sum of a matrix product towards zero."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        is_product = self.descriptor.family == "matmul" and len(operands) == len(("a", "b", "alpha", "beta", "out"))
        if not is_product or self.descriptor.out.dtype != "float32" or (operands["alpha"], operands["beta"]) != (1, 0):
            return
        a, b, out = (self.array(operands, name) for name in ("a", "b", "out"))
        if a.dtype != np.float32 or a.ndim != 2 or b.ndim != 2 or not np.isfinite(a).all() or not np.isfinite(b).all():  # noqa: PLR2004 - matrices
            return
        total = np.zeros(out.shape, np.float32)
        for k in range(a.shape[1]):
            total = _truncated(total + a[:, k, None].astype(np.float64) * b[k].astype(np.float64))
        out[...] = total
