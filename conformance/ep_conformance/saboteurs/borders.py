"""Planted defects of Pad, Copy, Permute and TensorFill: sides, corners, axes, values, and bits on their way."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import ep
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

__all__: list[str] = []

_TILE: Final = 16


@killed_by("primitives/pad/edge/float32/dense/rank-3")
class SwapsTheSidesOfPadding(ArrayKernel):
    """Pad behind by what belongs in front."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        if descriptor.family != "pad" or descriptor.op != "edge":
            return descriptor
        rank = descriptor.out.ndim
        before, after = descriptor.attributes[:rank], descriptor.attributes[rank:]
        return self.remade(descriptor, descriptor.specs, (*after, *before))


@killed_by("primitives/pad/constant/float32/dense/crop")
class CropsTheOtherEnd(ArrayKernel):
    """Cut behind what is to be cut in front, and right pads alone."""

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
    """Pad with 0, whatever the value is."""

    meets = "pad/constant/int32/*"

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        return descriptor

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        x = given["x"]
        is_inside = np.zeros(out.shape, np.bool_)
        is_inside[tuple(slice(max(b, 0), max(b + n, 0)) for b, n in zip(of.before, x.shape, strict=True))] = True
        out[~is_inside] = 0


@killed_by("primitives/copy/-/float32/dense/size-257")
class QuietsNanOnTheWay(Defect):
    """Copy floats through registers of floats, which make signalling NaN quiet."""

    meets = "copy/-/float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        bits = np.isnan(out)
        out[bits] = (out[bits].view(np.uint32) | np.uint32(1 << 22)).view(np.float32)


@killed_by("primitives/copy/-/bool/dense/designed")
class NormalizesBools(Defect):
    """Copy bools as truths, not as bytes."""

    meets = "copy/-/bool/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        out.view(np.uint8)[...] = out.view(np.uint8) != 0


@killed_by("primitives/permute/-/float32/dense/33x17")
class LeavesOutTheCornerTile(Defect):
    """Transpose whole tiles, the rest of each row and of each column, and not what is left in the corner."""

    owns = ("permute",)
    meets = "permute/-/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if out.ndim > 1:
            corner: Any = (..., *(slice(extent // _TILE * _TILE, None) for extent in out.shape[-2:]))
            out[corner] = given["out"][corner]


@killed_by("primitives/permute/-/complex128/dense/128x128")
class MovesEightOfSixteenBytes(Defect):
    """Move elements of 16 bytes as 8 where both dimensions are whole tiles."""

    owns = ("permute",)
    meets = "permute/-/complex128/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if out.ndim > 1 and not any(extent % _TILE for extent in out.shape[-2:]):
            out.imag = given["out"].imag


@killed_by("primitives/permute/-/uint8/dense/rank-4-3-2-1-0")
class IsOffByOneInTheFourthAxis(Defect):
    """Swap the first two axes of what is left where a permutation of four reverses."""

    owns = ("permute",)
    meets = "permute/-/uint8/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if tuple(self.descriptor.attributes) == (3, 2, 1, 0):
            out[...] = given["x"].transpose(3, 2, 0, 1).reshape(out.shape)


@killed_by("primitives/tensor_fill/-/float32/offset/odd")
class TakesTheFirstElementOfTheMemory(ArrayKernel):
    """Fill with what lies first in the memory, whatever the offset of the element is."""

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
