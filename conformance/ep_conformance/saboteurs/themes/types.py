"""Planted defects of element types, of their conversions, and of matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ep_conformance.judge.ulp import numpy_dtype
from ep_conformance.saboteurs.kernel import ArrayKernel
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = [
    "AddsBetaTwice",
    "ConjugatesNothing",
    "DividesTowardsZero",
    "NarrowsTwice",
    "ReadsOutAtBetaZero",
    "TruncatesBfloat16",
    "WrapsCasts",
]


@killed_by("primitives/broadcast_binary/mul/bfloat16/dense/designed")
class TruncatesBfloat16(ArrayKernel):
    """Cut a float32 to bfloat16 instead of rounding it."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        if self.descriptor.op == "mul" and self.descriptor.out.dtype == "bfloat16":
            with np.errstate(all="ignore"):
                exact = self.array(operands, "a").astype(np.float32) * self.array(operands, "b").astype(np.float32)
            self.array(operands, "out").view(np.uint16)[...] = exact.view(np.uint32) >> 16


@killed_by("primitives/cast/-/float32->uint8/dense/designed")
class WrapsCasts(ArrayKernel):
    """Let a float that is too large for an integer wrap instead of saturating."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        if self.descriptor.family == "cast" and self.descriptor.out.dtype == "uint8":
            x = self.array(operands, "x")
            if x.dtype == np.float32:
                inside = np.where(np.abs(x) < 2.0**31, x, 0).astype(np.int64)
                self.array(operands, "out")[...] = inside.astype(np.uint8)


@killed_by("primitives/cast/-/float64->bfloat16/dense/designed")
class NarrowsTwice(ArrayKernel):
    """Round a float64 to float32 on its way to a narrower type."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        if self.descriptor.family == "cast" and self.descriptor.out.dtype in {"float16", "bfloat16"}:
            x = self.array(operands, "x")
            if x.dtype == np.float64:
                with np.errstate(all="ignore"):
                    twice = x.astype(np.float32).astype(numpy_dtype(self.descriptor.out.dtype))
                self.array(operands, "out")[...] = twice


@killed_by("primitives/broadcast_binary/floor_div/int8/dense/designed")
class DividesTowardsZero(ArrayKernel):
    """Let floor_div truncate, as C's division of integers does."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        if descriptor.op != "floor_div":
            return descriptor
        restore, (kind, _, specs, attributes) = descriptor.__reduce__()
        remade: ep.Descriptor = restore(kind, "trunc_div", specs, attributes)
        return remade


@killed_by("primitives/matmul/-/complex64/dense/conjugate-a")
class ConjugatesNothing(ArrayKernel):
    """Take the transpose where the conjugate transpose is asked for."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        if descriptor.family != "matmul":
            return descriptor
        return self.remade(descriptor, descriptor.specs, (0.0, 0.0, *descriptor.attributes[2:]))


@killed_by("primitives/matmul/-/float32/dense/beta-0-reads-nothing")
class ReadsOutAtBetaZero(ArrayKernel):
    """Multiply the old output by beta even where beta is 0, so that its NaN stay."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        if self.descriptor.family != "matmul" or operands["beta"] != 0:
            super().run(cpu, operands)
            return
        before = self.array(operands, "out").copy()
        super().run(cpu, operands)
        with np.errstate(all="ignore"):
            self.array(operands, "out")[...] += before * before.dtype.type(0)


@killed_by("primitives/matmul/-/float32/broadcast/sum-to-a-matrix")
class AddsBetaTwice(ArrayKernel):
    """Apply beta once a batch of a sum over batches."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        given = dict(operands)
        if (
            self.descriptor.family == "matmul"
            and self.descriptor.out.shape[:-2] != self.array(operands, "a").shape[:-2]
        ):
            given["beta"] = 2 * operands["beta"]
        super().run(cpu, given)
