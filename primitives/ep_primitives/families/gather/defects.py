"""Planted defects of Gather: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


class _GathersAnew(ArrayKernel):
    """Computes the rows of Gather whose index is out of range."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family != "gather" or of.batch_dims or not of.x.ndim or not of.extent or not of.out.size:
            return
        indices = np.array(self.array(operands, "indices"), np.int64)
        rows = np.moveaxis(self.array(operands, "x"), of.axis, 0)
        places = tuple(range(of.axis, of.axis + indices.ndim))
        out = np.moveaxis(self.array(operands, "out"), places, range(indices.ndim))
        for at in np.argwhere((indices < 0) | (indices >= of.extent)):
            index = int(indices[tuple(at)])
            out[tuple(at)] = self.row(rows, index)

    def row(self, rows: Array, index: int) -> Array:
        """Return the row in place of rows[index], which is out of range."""
        raise NotImplementedError


@killed_by("primitives/gather/-/float32,int32->float32/dense/edges")
class ClampsIndices(_GathersAnew):
    """Gather the first or the last element for an index out of range."""

    def row(self, rows: Array, index: int) -> Array:
        return np.asarray(rows[0 if index < 0 else -1])


@killed_by("primitives/gather/-/float32,int64->float32/dense/edges")
class CountsIndicesFromTheEnd(_GathersAnew):
    """Let negative indices count from the end, as Python does."""

    def row(self, rows: Array, index: int) -> Array:
        return np.asarray(rows[index] if -len(rows) <= index < 0 else np.zeros_like(rows[0]))


@killed_by("primitives/gather/-/float32,int32->float32/dense/edges")
class MultipliesByTheMask(_GathersAnew):
    """Read the first element for an index out of range, and multiply it by 0, which NaN, infinities and signs survive."""

    def row(self, rows: Array, index: int) -> Array:
        del index
        with np.errstate(all="ignore"):
            return np.asarray(rows[0] * rows.dtype.type(0))


@killed_by("primitives/gather/-/float32,int64->float32/dense/edges")
class CutsIndicesTo32Bits(_GathersAnew):
    """Take the low half of indices of 64 bits, so that 2^32 + 1 is 1."""

    def row(self, rows: Array, index: int) -> Array:
        low = index & 0xFFFFFFFF
        return np.asarray(rows[low] if low < len(rows) else np.zeros_like(rows[0]))


@killed_by("primitives/gather/-/int16,int32->int16/dense/batch")
class AsksTheFirstBatch(Defect):
    """Use the indices of the first batch for all of them."""

    meets = "gather/-/int16,int32->int16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        if of.batch_dims == 1 and of.axis == 1 and of.extent:
            asked = given["indices"][0]
            is_inside = (asked >= 0) & (asked < of.extent)
            out[...] = given["x"][:, np.where(is_inside, asked, 0)]
            out[:, ~is_inside] = 0
