"""Planted defects of Where: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


@killed_by("primitives/where/-/bool,float32->float32/dense/conditions")
class TakesOneForTrue(ArrayKernel):
    """Let a condition be true where its byte is 1, not where it is not 0."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of = self.descriptor
        if of.family != "where" or of.specs[0].dtype != "bool":
            super().run(cpu, operands)
            return
        condition = self.array(operands, "condition").view(np.uint8)
        is_odd = np.broadcast_to(condition > 1, of.out.shape).copy()
        given = operands["b"]
        b = given if isinstance(given, int | float | complex) else np.array(self.array(operands, "b"))
        super().run(cpu, operands)
        out = self.array(operands, "out")
        out[is_odd] = np.broadcast_to(b, out.shape)[is_odd]


@killed_by("primitives/where/-/bool,float32->float32/dense/values")
class WeighsBothBranches(Defect):
    """Compute c a + (1 - c) b, in which a NaN that is not chosen shows."""

    meets = "where/-/bool,float32->float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        weight = given["condition"].astype(np.float32)
        out[...] = weight * given["a"] + (1 - weight) * given["b"]


@killed_by("primitives/where/-/int32,float32->float32/dense/conditions")
class LooksAtTheLowByteOfConditions(Defect):
    """Let a condition of int32 be true if its low byte is not 0."""

    meets = "where/-/int32,float32->float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        is_odd = np.broadcast_to((given["condition"] != 0) & (given["condition"] & 255 == 0), out.shape)
        out[...] = np.where(is_odd, given["b"], out)


@killed_by("primitives/where/-/bool,float16->float16/dense/nan-payloads")
class ChoosesThroughFloat32(Defect):
    """Convert float16 to float32 and back on its way, which makes signalling NaN quiet."""

    meets = "where/-/bool,float16->float16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        bits = np.isnan(out)
        out[bits] = (out[bits].view(np.uint16) | np.uint16(1 << 9)).view(np.float16)
