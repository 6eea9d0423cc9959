"""Planted defects of Pad: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


@killed_by("primitives/pad/edge/float32/dense/rank-3")
class SwapsTheSidesOfPadding(ArrayKernel):
    """Pad at the end by the count for the start."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        if descriptor.family != "pad" or descriptor.op != "edge":
            return descriptor
        rank = descriptor.out.ndim
        before, after = descriptor.attributes[:rank], descriptor.attributes[rank:]
        return self.remade(descriptor, descriptor.specs, (*after, *before))


@killed_by("primitives/pad/constant/float32/dense/crop")
class CropsTheOtherEnd(ArrayKernel):
    """Cut at the end instead of at the start; the right pads are correct."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        if descriptor.family != "pad" or min(descriptor.attributes, default=0) >= 0:
            return descriptor
        rank = descriptor.out.ndim
        sides = [*zip(descriptor.attributes[:rank], descriptor.attributes[rank:], strict=True)]
        turned = [(after, before) if max(before, after) < 0 else (before, after) for before, after in sides]
        before, after = zip(*turned, strict=True)
        return self.remade(descriptor, descriptor.specs, (*before, *after))


@killed_by("primitives/pad/circular/float32/dense/line")
class RepeatsTheLastElementFirst(Defect):
    """Be one off in front of a circular padding."""

    meets = "pad/circular/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        before = int(self.descriptor.attributes[-2 * out.ndim :][out.ndim - 1])
        out[..., :before] = np.roll(out[..., :before], 1, -1)


@killed_by("primitives/pad/reflect/float32/dense/largest")
class ReflectsOneLessThanThereIs(Defect):
    """Reflect at most n - 2 elements, and repeat the last of them for the one that is left."""

    meets = "pad/reflect/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["x"].ndim and self.descriptor.attributes[0] == given["x"].shape[0] - 1:
            out[0] = out[1]


@killed_by("primitives/pad/constant/int32/dense/value-seven")
class PadsWithZeros(Defect):
    """Pad with 0, ignoring the value."""

    meets = "pad/constant/int32/*"

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        return descriptor

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        x = given["x"]
        is_inside = np.zeros(out.shape, np.bool_)
        is_inside[tuple(slice(max(b, 0), max(b + n, 0)) for b, n in zip(of.before, x.shape, strict=True))] = True
        out[~is_inside] = 0


@killed_by("primitives/pad/reflect/float32/dense/line")
class RepeatsTheBorder(ArrayKernel):
    """Reflect about the edge of the border element in place of its middle, so that the border shows twice."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "pad" and of.op == "reflect" and of.out.size:
            counts = [*zip(of.before, of.after, strict=True)]
            self.array(operands, "out")[...] = np.pad(self.array(operands, "x"), counts, "symmetric")
