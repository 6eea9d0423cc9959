"""Planted defects of BatchNorm: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []


class _Batch(Defect):
    owns: ClassVar[tuple[str, ...]] = ("batch_norm",)
    meets = "batch_norm/-/float32/dense"


@killed_by("primitives/batch_norm/-/float32/dense/12x35-axis0")
class TakesTheSecondDimensionForChannels(_Batch):
    """Look for channels along dimension 1 alone, and give others the numbers of the first."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if of.axis != 1:
            mean, variance = (given[name][:1] for name in ("mean", "variance"))
            y = (given["x"] - mean) / np.sqrt(variance + np.float32(of.epsilon))
            out[...] = y * given.get("scale", np.ones(1))[:1] + given.get("bias", np.zeros(1))[:1]


@killed_by("primitives/batch_norm/-/float32/dense/small")
class DividesByTheDeviationAlone(_Batch):
    """Leave epsilon out."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        column = (-1,) + (1,) * (out.ndim - of.axis - 1)
        found = {name: each.reshape(column) for name, each in given.items() if name not in {"x", "y"}}
        y = (given["x"] - found["mean"]) / np.sqrt(found["variance"])
        out[...] = y * found.get("scale", 1) + found.get("bias", 0)
