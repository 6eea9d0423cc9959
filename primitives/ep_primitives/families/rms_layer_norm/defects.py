"""Planted defects of RmsLayerNorm: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__: list[str] = []


class _RootMeanSquare(Defect):
    owns: ClassVar[tuple[str, ...]] = ("rms_layer_norm",)
    meets = "rms_layer_norm/-/float32/dense"

    def scaled(self, given: Mapping[str, Any], factor: Array) -> Array:
        """Return y of rows and their factors, of shape (rows, 1)."""
        x = given["x"].reshape(len(factor), -1)
        y = x * factor * given["scale"].reshape(-1) if "scale" in given else x * factor
        return np.asarray(y.reshape(given["x"].shape))


@killed_by("primitives/rms_layer_norm/-/float32/dense/rows")
class TakesTheMeanOff(_RootMeanSquare):
    """Divide by the standard deviation, as LayerNorm does."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        x = given["x"].reshape(-1, of.terms)
        out[...] = self.scaled(given, 1 / np.sqrt(x.var(1, keepdims=True) + np.float32(of.epsilon)))


@killed_by("primitives/rms_layer_norm/-/float32/dense/3x513")
class DividesByTheNorm(_RootMeanSquare):
    """Divide by the root of the sum of squares, and not of their mean."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        x = given["x"].reshape(-1, of.terms)
        out[...] = self.scaled(given, 1 / np.sqrt((x * x).sum(1, keepdims=True) + np.float32(of.epsilon)))
