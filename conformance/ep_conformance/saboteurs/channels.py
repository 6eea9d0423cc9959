"""Planted defects of GroupNorm and BatchNorm: which channels make a group, and which number meets which channel."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []


class _Group(Defect):
    owns: ClassVar[tuple[str, ...]] = ("group_norm",)
    meets = "group_norm/-/float32/dense"


@killed_by("primitives/group_norm/-/float32/dense/groups")
class NormalizesWholeSamples(_Group):
    """Take mean and variance of a sample, whatever the groups."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        x = given["x"]
        axes = tuple(range(1, x.ndim))
        y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + np.float32(of.epsilon))
        for name, change in (("scale", np.multiply), ("bias", np.add)):
            if name in given:
                y = change(y, given[name].reshape((-1,) + (1,) * (x.ndim - 2)))
        out[...] = y


@killed_by("primitives/group_norm/-/float32/dense/each-no-scale")
class ScalesByTheBias(_Group):
    """Multiply by the bias where there is no scale, as who counts operands does."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if "bias" in given and "scale" not in given:
            bias = given["bias"].reshape((-1,) + (1,) * (out.ndim - 2))
            out[...] = (out - bias) * bias


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
