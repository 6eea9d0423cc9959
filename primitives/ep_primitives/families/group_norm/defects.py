"""Planted defects of GroupNorm: each says above its class which case kills it."""

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
    """Take mean and variance over a whole sample, ignoring the groups."""

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
    """Multiply by the bias where there is no scale, as by counting operands."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if "bias" in given and "scale" not in given:
            bias = given["bias"].reshape((-1,) + (1,) * (out.ndim - 2))
            out[...] = (out - bias) * bias
