"""Planted defects of Iota: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, Defect
from ep_conformance.saboteurs.saboteur import killed_by

from ep_primitives import Iota

__all__: list[str] = []


@killed_by("primitives/iota/-/float32/dense/tenths")
class AddsStepsUp(Defect):
    """Make each element of the one before it, so that roundings add up."""

    meets = "iota/-/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        assert isinstance(self.descriptor, Iota)
        moved = np.moveaxis(out, self.descriptor.axis, -1) if out.ndim else out.reshape(1)
        steps = np.full(moved.shape, np.float32(given["step"]))
        steps[..., 0] = np.float32(given["start"])
        moved[...] = np.add.accumulate(steps, axis=-1)


@killed_by("primitives/iota/-/int32/dense/rank-4-axis-0")
class CountsThroughTheTensor(Defect):
    """Count elements in their order, ignoring the axis."""

    meets = "iota/-/int32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        places = np.arange(out.size, dtype=np.int32).reshape(out.shape)
        out[...] = np.int32(given["start"]) + places * np.int32(given["step"])


@killed_by("primitives/iota/-/int64/dense/bytes")
class CountsInFloat64(Defect):
    """Multiply integers of 64 bits as float64, which holds 53 of them."""

    meets = "iota/-/int64/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        assert isinstance(self.descriptor, Iota)
        shape = [-1 if place == self.descriptor.axis else 1 for place in range(out.ndim)]
        products = np.arange(self.descriptor.extent) * float(given["step"])
        is_inside = np.abs(products) < 2.0**62
        exact = np.arange(self.descriptor.extent) * np.int64(given["step"])
        out[...] = (np.int64(given["start"]) + np.where(is_inside, products, exact).astype(np.int64)).reshape(shape)


@killed_by("primitives/iota/-/uint8/dense/wraps")
class StopsAtTheLargest(Defect):
    """Let a sum that is too large for the type be its largest number, where it wraps."""

    meets = "iota/-/uint8/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        assert isinstance(self.descriptor, Iota)
        shape = [-1 if place == self.descriptor.axis else 1 for place in range(out.ndim)]
        sums = given["start"] + np.arange(self.descriptor.extent, dtype=np.int64) * given["step"]
        out[...] = np.clip(sums, 0, 255).reshape(shape).astype(np.uint8)
