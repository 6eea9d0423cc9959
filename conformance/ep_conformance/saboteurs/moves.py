"""Planted defects of families that move elements: at the edges of an index, a condition, a border, a permutation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ep_primitives import Permute

from ep_conformance.saboteurs.implementations import Delegated
from ep_conformance.saboteurs.provider import HonestProvider
from ep_conformance.saboteurs.values import ArrayKernel

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    import ep
    from ep_conformance.saboteurs.implementations import HonestKernel

    Array = npt.NDArray[Any]

__all__ = [
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


class _ClampsIndices(_GathersAnew):
    def row(self, rows: Array, index: int) -> Array:
        return np.asarray(rows[0 if index < 0 else -1])


class ClampsIndices(HonestProvider):
    """Gather the first or the last element for an index out of range."""

    kernel_type: ClassVar[type[HonestKernel]] = _ClampsIndices


class _CountsIndicesFromTheEnd(_GathersAnew):
    def row(self, rows: Array, index: int) -> Array:
        return np.asarray(rows[index] if -len(rows) <= index < 0 else np.zeros_like(rows[0]))


class CountsIndicesFromTheEnd(HonestProvider):
    """Let negative indices count from the end, as Python does."""

    kernel_type: ClassVar[type[HonestKernel]] = _CountsIndicesFromTheEnd


class _MultipliesByTheMask(_GathersAnew):
    def row(self, rows: Array, index: int) -> Array:
        del index
        with np.errstate(all="ignore"):
            return np.asarray(rows[0] * rows.dtype.type(0))


class MultipliesByTheMask(HonestProvider):
    """Read the first element for an index out of range, and multiply it by 0, which NaN, infinities and signs survive."""

    kernel_type: ClassVar[type[HonestKernel]] = _MultipliesByTheMask


class _CountsClassesFromTheEnd(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "one_hot" and of.first == 0 and of.out.size:
            out = np.moveaxis(self.array(operands, "out"), of.axis, -1)
            classes = out.shape[-1]
            indices = np.array(self.array(operands, "indices"), np.int64)
            for at in np.argwhere((indices < 0) & (indices >= -classes)):
                out[(*at, indices[tuple(at)] + classes)] = operands["on"]


class CountsClassesFromTheEnd(HonestProvider):
    """Let class -1 be the last one."""

    kernel_type: ClassVar[type[HonestKernel]] = _CountsClassesFromTheEnd


class _RepeatsTheBorder(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "pad" and of.op == "reflect" and of.out.size:
            counts = [*zip(of.before, of.after, strict=True)]
            self.array(operands, "out")[...] = np.pad(self.array(operands, "x"), counts, "symmetric")


class RepeatsTheBorder(HonestProvider):
    """Reflect about the edge of the border element in place of its middle, so that the border shows twice."""

    kernel_type: ClassVar[type[HonestKernel]] = _RepeatsTheBorder


class _TakesOneForTrue(ArrayKernel):
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


class TakesOneForTrue(HonestProvider):
    """Let a condition be true where its byte is 1, not where it is not 0."""

    kernel_type: ClassVar[type[HonestKernel]] = _TakesOneForTrue


class _PermutesBackwards(ArrayKernel):
    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.family == "permute":
            backwards = self.array(operands, "x").transpose(np.argsort(of.permutation))
            self.array(operands, "out")[...] = backwards.reshape(of.out.shape)


class _OwnPermutes(Delegated):
    """Permutations, for which the CPU has no kernel of its own."""

    def accepts(self, descriptor: ep.Descriptor, info: ep.DeviceInfo) -> bool:
        del descriptor, info
        return True


class PermutesBackwards(HonestProvider):
    """Permute by the inverse of the permutation, which is another one where three dimensions rotate."""

    kernel_type: ClassVar[type[HonestKernel]] = _PermutesBackwards

    @property
    def implementations(self) -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
        return {**super().implementations, Permute: (_OwnPermutes(self._cpu, self.kernel_type),)}
