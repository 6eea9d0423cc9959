"""Planted defects of families that move elements: at the edges of an index, a condition, a border, a permutation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ep_conformance.saboteurs.kernel import ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    import ep

    Array = npt.NDArray[Any]

__all__ = [
    "AsksTheFirstBatch",
    "ClampsIndices",
    "CountsClassesFromTheEnd",
    "CountsIndicesFromTheEnd",
    "MultipliesByTheMask",
    "PermutesBackwards",
    "RepeatsTheBorder",
    "TakesOneForTrue",
]


class _GathersAnew(ArrayKernel):
    """Does the rows of Gather itself whose index is out of range."""

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
        """Return what stands for rows[index], out of range."""
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


@killed_by("primitives/one_hot/-/int32->int8/dense/edges")
class CountsClassesFromTheEnd(ArrayKernel):
    """Let class -1 be the last one."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "one_hot" and of.first == 0 and of.out.size:
            out = np.moveaxis(self.array(operands, "out"), of.axis, -1)
            classes = out.shape[-1]
            indices = np.array(self.array(operands, "indices"), np.int64)
            for at in np.argwhere((indices < 0) & (indices >= -classes)):
                out[(*at, indices[tuple(at)] + classes)] = operands["on"]


@killed_by("primitives/pad/reflect/float32/dense/line")
class RepeatsTheBorder(ArrayKernel):
    """Reflect about the edge of the border element in place of its middle, so that the border shows twice."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "pad" and of.op == "reflect" and of.out.size:
            counts = [*zip(of.before, of.after, strict=True)]
            self.array(operands, "out")[...] = np.pad(self.array(operands, "x"), counts, "symmetric")


@killed_by("primitives/where/-/bool,float32->float32/dense/conditions")
class TakesOneForTrue(ArrayKernel):
    """Let a condition be true where its byte is 1, not where it is not 0."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        of = self.descriptor
        if of.family != "where" or of.specs[0].dtype != "bool":
            super().run(cpu, operands)
            return
        condition = self.array(operands, "condition").view(np.uint8)
        is_odd = np.broadcast_to(condition > 1, of.out.shape).copy()
        given = operands["b"]
        b = given if isinstance(given, int | float | complex) else np.array(self.array(operands, "b"))
        super().run(cpu, operands)
        out = self.array(operands, "out")
        out[is_odd] = np.broadcast_to(b, out.shape)[is_odd]


@killed_by("primitives/permute/-/float32/dense/rank-3-1-2-0")
class PermutesBackwards(Defect):
    """Permute by the inverse of the permutation, which is another one where three dimensions rotate."""

    owns = ("permute",)
    meets = "permute/-/*/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        out[...] = given["x"].transpose(np.argsort(of.permutation)).reshape(out.shape)


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


@killed_by("primitives/where/-/bool,float32->float32/dense/values")
class WeighsBothBranches(Defect):
    """Compute c a + (1 - c) b, in which a NaN that is not chosen shows."""

    meets = "where/-/bool,float32->float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        weight = given["condition"].astype(np.float32)
        out[...] = weight * given["a"] + (1 - weight) * given["b"]


@killed_by("primitives/where/-/int32,float32->float32/dense/conditions")
class LooksAtTheLowByteOfConditions(Defect):
    """Let a condition of int32 be true if its low byte is not 0."""

    meets = "where/-/int32,float32->float32/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        is_odd = np.broadcast_to((given["condition"] != 0) & (given["condition"] & 255 == 0), out.shape)
        out[...] = np.where(is_odd, given["b"], out)


@killed_by("primitives/where/-/bool,float16->float16/dense/nan-payloads")
class ChoosesThroughFloat32(Defect):
    """Convert float16 to float32 and back on its way, which makes signalling NaN quiet."""

    meets = "where/-/bool,float16->float16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        del given
        bits = np.isnan(out)
        out[bits] = (out[bits].view(np.uint16) | np.uint16(1 << 9)).view(np.float16)


@killed_by("primitives/one_hot/-/int64->int16/dense/off-seven")
class LeavesZeroForOff(Defect):
    """Put down `on` in a tensor of zeros, whatever `off` is."""

    meets = "one_hot/-/int64->int16/*"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if given["off"] != given["on"]:
            out[out == given["off"]] = 0


@killed_by("primitives/one_hot/-/int64->uint8/dense/edges")
class CutsClassesTo32Bits(Defect):
    """Compare the low halves of indices of 64 bits."""

    meets = "one_hot/-/int64->uint8/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        rows = np.moveaxis(out, of.axis, -1)
        places = (given["indices"] - of.first) & 0xFFFFFFFF
        rows[...] = np.where(places[..., None] == np.arange(rows.shape[-1]), given["on"], given["off"])


@killed_by("primitives/one_hot/-/int32/dense/classes-1025")
class HasAThousandClasses(Defect):
    """Leave the classes out that a group of 1024 threads does not reach."""

    meets = "one_hot/-/int32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        np.moveaxis(out, of.axis, -1)[..., 1024:] = given["off"]
