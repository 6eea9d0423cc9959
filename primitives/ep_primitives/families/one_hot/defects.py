"""Planted defects of OneHot: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


@killed_by("primitives/one_hot/-/int32->int8/dense/edges")
class CountsClassesFromTheEnd(ArrayKernel):
    """Let class -1 be the last one."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "one_hot" and of.first == 0 and of.out.size:
            out = np.moveaxis(self.array(operands, "out"), of.axis, -1)
            classes = out.shape[-1]
            indices = np.array(self.array(operands, "indices"), np.int64)
            for at in np.argwhere((indices < 0) & (indices >= -classes)):
                out[(*at, indices[tuple(at)] + classes)] = operands["on"]


@killed_by("primitives/one_hot/-/int64->int16/dense/off-seven")
class LeavesZeroForOff(Defect):
    """Write `on` into a tensor of zeros, ignoring `off`."""

    meets = "one_hot/-/int64->int16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["off"] != given["on"]:
            out[out == given["off"]] = 0


@killed_by("primitives/one_hot/-/int64->uint8/dense/edges")
class CutsClassesTo32Bits(Defect):
    """Compare the low halves of indices of 64 bits."""

    meets = "one_hot/-/int64->uint8/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        rows = np.moveaxis(out, of.axis, -1)
        places = (given["indices"] - of.first) & 0xFFFFFFFF
        rows[...] = np.where(places[..., None] == np.arange(rows.shape[-1]), given["on"], given["off"])


@killed_by("primitives/one_hot/-/int32/dense/classes-1025")
class HasAThousandClasses(Defect):
    """Leave the classes out that a group of 1024 threads does not reach."""

    meets = "one_hot/-/int32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        np.moveaxis(out, of.axis, -1)[..., 1024:] = given["off"]
