"""Planted defects of AddN: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


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
