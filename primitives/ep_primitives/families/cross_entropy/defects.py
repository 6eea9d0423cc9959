"""Planted defects of CrossEntropy: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []


class _Loss(Defect):
    owns: ClassVar[tuple[str, ...]] = ("cross_entropy",)
    meets = "cross_entropy/-/float32,int64->float32/dense"


@killed_by("primitives/cross_entropy/-/float32,int64->float32/dense/mean-ignore+4")
class DividesByAllLabels(_Loss):
    """Divide a mean by the number of labels, ignoring their weights and which of them count."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        labels, classes = given["labels"], of.x.shape[1]
        if of.reduction == "mean":
            counts = (labels >= 0) & (labels < classes) & (labels != of.ignore_index)
            weights = given.get("weights", np.ones(classes, out.dtype))[np.where(counts, labels, 0)]
            out *= (weights * counts).sum() / labels.size


@killed_by("primitives/cross_entropy/-/float32,int64->float32/dense/none-no-class-unweighted")
class CountsLabelsFromTheEnd(_Loss):
    """Take a label below 0 for one that counts from the last class."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        labels, classes = given["labels"], of.x.shape[1]
        if of.reduction == "none" and not of.is_log and of.ignore_index is None and of.weights is None:
            rows = np.moveaxis(given["x"], 1, -1)
            d = rows - rows.max(-1, keepdims=True)
            logarithms = d - np.log(np.exp(d).sum(-1, keepdims=True))
            places = np.where((labels < 0) & (labels >= -classes), labels + classes, 0)
            found = -np.take_along_axis(logarithms, places[..., None], -1)[..., 0]
            out[...] = np.where((labels < 0) & (labels >= -classes), found, out)
