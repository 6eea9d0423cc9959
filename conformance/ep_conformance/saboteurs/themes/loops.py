"""Planted defects of the loop around a right formula: tails, ends, alignment, rank, strides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import ep
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__: list[str] = []

_LANES: Final = 16
_MOST: Final = 1 << 16
_DIMENSIONS: Final = 4


@killed_by("primitives/elementwise_unary/negative/float32/dense/size-65537")
class EndsAt64Ki(Defect):
    """Count elements in 16 bits: nothing behind the first 65,536 is written."""

    meets = "elementwise_unary/negative/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out.reshape(-1)[_MOST:] = given["out"].reshape(-1)[_MOST:]


@killed_by("primitives/elementwise_unary/negative/float32/inplace/x")
class WorksOnTheTailTwice(Defect):
    """Let the last whole vector overlap the one before it, which in place is applied twice."""

    meets = "elementwise_unary/negative/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        flat = out.reshape(-1)
        if flat.size > _LANES and flat.size % _LANES and np.array_equal(given["x"], given["out"], equal_nan=True):
            flat[flat.size - _LANES : flat.size // _LANES * _LANES] *= np.float32(-1)


@killed_by("primitives/elementwise_unary/sqrt/float32/offset/odd")
class RoundsAddressesDown(ArrayKernel):
    """Load vectors from the aligned address below, at odd offsets alone."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        if descriptor.op != "sqrt":
            return descriptor
        x = descriptor.specs[0]
        assert isinstance(x, ep.TensorSpec)
        low = ep.TensorSpec(x.dtype, x.shape, x.strides, x.offset // 4 * 4) if x.is_dense else x
        return self.remade(descriptor, (low, descriptor.out), descriptor.attributes)


@killed_by("primitives/broadcast_binary/add/float64/strided/padded-rows")
class DropsTheLastColumn(Defect):
    """Leave the last column of rows with gaps out, where their length is 1 more than a multiple of 8."""

    meets = "broadcast_binary/add/float64/strided"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if out.ndim > 1 and out.shape[-1] % 8 == 1:
            out[..., -1] = given["out"][..., -1]


@killed_by("primitives/elementwise_unary/abs/int16/strided/rank-16")
class WalksFourDimensions(Defect):
    """Walk the last four dimensions that do not merge, and stay at the first element of the others."""

    meets = "elementwise_unary/abs/int16/strided"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        axes = [axis for axis, extent in enumerate(out.shape) if extent > 1][:-_DIMENSIONS]
        is_walked = np.ones(out.shape, np.bool_)
        for axis in axes:
            is_walked &= np.arange(out.shape[axis]).reshape(-1, *(1,) * (out.ndim - axis - 1)) == 0
        out[...] = np.where(is_walked, out, given["out"])


@killed_by("primitives/copy/-/int16/strided/one-column")
class BelievesTheStrideOfOneElement(ArrayKernel):
    """Take an input whose innermost stride is 1 for dense, although that dimension has one element."""

    def described(self, descriptor: ep.Descriptor) -> ep.Descriptor:
        specs = tuple(_flat(spec) for spec in descriptor.specs[:-1])
        return self.remade(descriptor, (*specs, descriptor.out), descriptor.attributes)


def _flat(spec: ep.TensorSpec | ep.Scalar) -> ep.TensorSpec | ep.Scalar:
    if not isinstance(spec, ep.TensorSpec) or not spec.shape or spec.shape[-1] != 1 or min(spec.strides) < 0:
        return spec
    dense = ep.TensorSpec(spec.dtype, spec.shape, None, spec.offset)
    return dense if dense.hi <= spec.hi else spec


@killed_by("primitives/broadcast_binary/add/int16/inplace/b")
class WritesBeforeItReads(ArrayKernel):
    """Copy a to the output before b is read, which may lie there."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of = self.descriptor
        if of.family == "broadcast_binary" and of.op == "add" and of.out.dtype == "int16":
            given = operands["a"]
            a = given if isinstance(given, int) else np.array(self.array(operands, "a"))
            self.array(operands, "out")[...] = a
        super().run(cpu, operands)
