"""Planted defects of TensorFill: each says above its class which case kills it."""

from __future__ import annotations

from typing import Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

import ep

__all__: list[str] = []


@killed_by("primitives/tensor_fill/-/float32/offset/odd")
class TakesTheFirstElementOfTheMemory(ArrayKernel):
    """Fill with the first element of the memory, ignoring the offset."""

    owns = ("tensor_fill",)

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        if descriptor.family != "tensor_fill":
            return descriptor
        x = descriptor.specs[0]
        assert isinstance(x, ep.TensorSpec)
        return self.remade(descriptor, (ep.TensorSpec(x.dtype, x.shape), descriptor.out), ())


@killed_by("primitives/tensor_fill/-/int64/dense/size-17")
class FillsWithAFloat(Defect):
    """Hold the element to fill with as float64 on its way."""

    owns = ("tensor_fill",)
    meets = "tensor_fill/-/int64/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        exact = int(given["x"].reshape(-1)[0])
        out[...] = np.clip(float(exact), -(2.0**63), 2.0**63 - 1024).astype(np.int64)
