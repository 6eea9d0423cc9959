"""Planted defects of memory: writes beside the output and into inputs, grids that end, lines of 65,535."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_conformance.saboteurs.kernel import Array, ArrayKernel, Defect
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []

_VECTOR: Final = 16
_MOST_ROWS: Final = 65_535
_MATRIX: Final = 2


class _Beyond(ArrayKernel):
    """Has more of each allocation than its operands, as every kernel with a bare pointer does."""

    def operand(self, memory: ep.Memory) -> ep.Memory:
        more = min(memory.nbytes + _VECTOR, memory.handle.nbytes - memory.offset)
        found: ep.Memory = memory.handle.bytes_at(memory.offset, more)
        return found


@killed_by("primitives/elementwise_unary/square/float32/dense/size-17")
class WritesWholeVectors(_Beyond):
    """Store the last vector whole, beyond the output's end."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        out = self.descriptor.out
        if self.descriptor.op == "square" and out.size % 4:
            behind = np.frombuffer(operands["out"].host(), np.uint8)[out.nbytes :]
            behind[: _VECTOR - out.nbytes % _VECTOR] = 0


@killed_by("primitives/fill/-/float32/strided/padded-rows")
class FillsTheGaps(ArrayKernel):
    """Fill everything from the first element of rows with gaps to the last."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        out = self.descriptor.out
        if self.descriptor.cell.startswith("fill/-/float32/") and out.size:
            np.frombuffer(operands["out"].host(), np.float32)[out.lo : out.hi] = np.float32(operands["value"])
        super().run(cpu, operands)


@killed_by("primitives/softmax/-/float64/dense/rows")
class TakesTheMaximumOffItsInput(ArrayKernel):
    """Take the maximum off in the memory of x, which is an input."""

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if of.cell == "softmax/-/float64/dense" and of.out.size and "x" in operands and operands["x"].nbytes:
            x = self.array(operands, "x")
            with np.errstate(all="ignore"):
                x -= x.max(of.axis, keepdims=True)


@killed_by("primitives/reduce/prod/float32/dense/rows")
class UsesTheOutputForPartialSums(ArrayKernel):
    """Put partial products where the output's neighbour lies, in front of it."""

    def operand(self, memory: ep.Memory) -> ep.Memory:
        found: ep.Memory = memory.handle.bytes_at(max(memory.offset - 4, 0), memory.nbytes + 4)
        self._front = found
        return super().operand(memory)

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        if self.descriptor.cell == "reduce/prod/float32/dense":
            np.frombuffer(self._front.host(), np.uint8)[:4] = 0


@killed_by("primitives/matmul/-/float32/dense/70001-batches")
class EndsAfter65535Batches(Defect):
    """Launch a grid of at most 65,535 matrices."""

    meets = "matmul/-/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if out.ndim > _MATRIX:
            matrices, before = (each.reshape(-1, *each.shape[-2:]) for each in (out, given["out"]))
            matrices[_MOST_ROWS:] = before[_MOST_ROWS:]


@killed_by("primitives/softmax/-/float32/dense/70001x3")
class EndsAfter65535Rows(Defect):
    """Launch a grid of at most 65,535 rows."""

    meets = "softmax/-/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if out.ndim == _MATRIX:
            out[_MOST_ROWS:] = given["out"][_MOST_ROWS:]


@killed_by("primitives/reduce/max/float32/dense/many-rows")
class ReducesAtMost65535Rows(Defect):
    """Launch a grid of at most 65,535 rows."""

    meets = "reduce/max/float32/dense"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        out.reshape(-1)[_MOST_ROWS:] = given["out"].reshape(-1)[_MOST_ROWS:]


@killed_by("primitives/copy/-/uint8/strided/many-rows")
class CopiesAtMost65535Rows(Defect):
    """Launch a grid of at most 65,535 rows with gaps."""

    meets = "copy/-/uint8/strided"

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        if out.ndim == _MATRIX:
            out[_MOST_ROWS:] = given["out"][_MOST_ROWS:]
