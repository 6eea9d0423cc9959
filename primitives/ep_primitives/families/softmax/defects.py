"""Planted defects of LogSoftmax, LogSoftmaxBackward, Softmax and SoftmaxBackward: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


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


_BLOCK: Final = 1024


class _Rows(Defect):
    """Spoils softmaxes along their axis, of tensors that have one."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if out.ndim:
            rows = {name: np.moveaxis(given[name], of.axis, -1) for name in of.operands[:-1]}
            self.normalize(rows, np.moveaxis(out, of.axis, -1))

    def normalize(self, rows: dict[str, Array], out: Array) -> None:
        raise NotImplementedError


@killed_by("primitives/softmax/-/float32/dense/far-from-zero")
class TakesNoMaximumOff(_Rows):
    """Take exponentials without the maximum taken off, so that they overflow and vanish."""

    meets = "softmax/-/float32/dense"

    def normalize(self, rows: dict[str, Array], out: Array) -> None:
        terms = np.exp(rows["x"])
        out[...] = terms / terms.sum(-1, keepdims=True)


@killed_by("primitives/softmax/-/float32/dense/last-is-largest-4097")
class TakesTheMaximumOfABlock(_Rows):
    """Take off the maximum of the first 1024 elements of longer rows."""

    meets = "softmax/-/float32/dense"

    def normalize(self, rows: dict[str, Array], out: Array) -> None:
        x = rows["x"]
        if x.shape[-1] > _BLOCK:
            terms = np.exp(x - x[..., :_BLOCK].max(-1, keepdims=True))
            out[...] = terms / terms.sum(-1, keepdims=True)


@killed_by("primitives/softmax/-/float16/dense/1x16411")
class SumsHalfsInHalfs(_Rows):
    """Sum the exponentials of float16 in float16."""

    meets = "softmax/-/float16/dense"

    def normalize(self, rows: dict[str, Array], out: Array) -> None:
        x = rows["x"].astype(np.float32)
        terms = np.exp(x - x.max(-1, keepdims=True)).astype(np.float16)
        out[...] = terms / np.add.accumulate(terms, -1)[..., -1:]


@killed_by("primitives/softmax/-/float64/dense/33x17-axis0")
class NormalizesTheLastAxis(_Rows):
    """Make rows of the last axis into probabilities, whichever is asked for."""

    meets = "softmax/-/float64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if out.ndim > 1:
            terms = np.exp(given["x"] - given["x"].max(-1, keepdims=True))
            out[...] = terms / terms.sum(-1, keepdims=True)


@killed_by("primitives/softmax/-/bfloat16/inplace/x-long")
class ReadsWhatItWrote(ArrayKernel):
    """Write the first blocks of a long row before the last of it is read, in place."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of: Any = self.descriptor
        if of.family == "softmax" and of.out.dtype == "bfloat16" and of.extent > _BLOCK:
            np.moveaxis(self.array(operands, "out"), of.axis, -1)[..., :_BLOCK] = 0
        super().run(cpu, operands)


@killed_by("primitives/log_softmax/-/float32/dense/subnormal")
class TakesLogarithmsOfProbabilities(_Rows):
    """Take the logarithm of the softmax, which is 0 where its logarithm is -120."""

    meets = "log_softmax/-/float32/dense"

    def normalize(self, rows: dict[str, Array], out: Array) -> None:
        x = rows["x"]
        terms = np.exp(x - x.max(-1, keepdims=True))
        out[...] = np.log(terms / terms.sum(-1, keepdims=True))


@killed_by("primitives/log_softmax/-/float32/dense/9x1")
class AddsATinyNumber(_Rows):
    """Add 1e-6 to the sum before its logarithm is taken, against zeros that cannot be."""

    meets = "log_softmax/-/float32/dense"

    def normalize(self, rows: dict[str, Array], out: Array) -> None:
        x = rows["x"]
        out[...] = np.where(
            np.isfinite(out), out - np.float32(1e-6) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True), out
        )


@killed_by("primitives/softmax_backward/-/float32/dense/any-y")
class AssumesProbabilities(_Rows):
    """Subtract the sum divided by the sum of y, which is 1 for results of softmax."""

    meets = "softmax_backward/-/float32/dense"

    def normalize(self, rows: dict[str, Array], out: Array) -> None:
        dy, y = rows["dy"].astype(np.float64), rows["y"].astype(np.float64)
        if np.isfinite(dy).all() and np.isfinite(y).all():
            out[...] = y * (dy - (y * dy).sum(-1, keepdims=True) / y.sum(-1, keepdims=True))


@killed_by("primitives/softmax_backward/-/float32/inplace/y")
class OverwritesYEarly(ArrayKernel):
    """Put the products y dy where y lies, before they are needed."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.descriptor.family == "softmax_backward" and self.descriptor.out.dtype == "float32":
            with np.errstate(all="ignore"):
                products = self.array(operands, "y") * self.array(operands, "dy")
            self.array(operands, "out")[...] = products
        super().run(cpu, operands)


@killed_by("primitives/log_softmax_backward/-/float32/dense/one-sign")
class SumsGradientsInBfloat16(_Rows):
    """Sum the gradients with 16 bits of each."""

    meets = "log_softmax_backward/-/float32/dense"

    def normalize(self, rows: dict[str, Array], out: Array) -> None:
        dy, y = rows["dy"], rows["y"]
        cut = (dy.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        out[...] = dy - np.exp(y) * cut.sum(-1, keepdims=True)


@killed_by("primitives/log_softmax_backward/-/float64/dense/any-y")
class TakesProbabilitiesForLogarithms(_Rows):
    """Multiply by y where exp(y) is meant."""

    meets = "log_softmax_backward/-/float64/dense"

    def normalize(self, rows: dict[str, Array], out: Array) -> None:
        out[...] = rows["dy"] - rows["y"] * rows["dy"].sum(-1, keepdims=True)
