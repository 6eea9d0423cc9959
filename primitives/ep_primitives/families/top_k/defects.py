"""Planted defects of TopK: each says above its class which case kills it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ep.layout.cells import matches
from ep_conformance.saboteurs.kernel import Array, ArrayKernel
from ep_conformance.saboteurs.saboteur import killed_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__: list[str] = []


class _Selection(ArrayKernel):
    """Works honestly, then spoils values and indices, with rows along the last axis, of the cells that it is meant for.

    meets : pattern of cells, as in claims.toml
    """

    meets: ClassVar[str]

    def run(self, cpu: ep.Stream, operands: Mapping[str, Any]) -> None:
        super().run(cpu, operands)
        of: Any = self.descriptor
        if matches(self.meets, of.cell) and of.out.size and of.out.ndim:
            arrays = [np.moveaxis(self.array(operands, name), of.axis, -1) for name in of.operands]
            self.spoil(*arrays)

    def spoil(self, x: Array, values: Array, indices: Array) -> None:
        """Write what the defect makes of x to values and indices, which hold right results."""
        raise NotImplementedError

    def put(self, x: Array, order: Array, values: Array, indices: Array) -> None:
        """Write the first of an order of all elements of each row."""
        indices[...] = order[..., : indices.shape[-1]]
        values[...] = np.take_along_axis(x, indices, -1)


@killed_by("primitives/top_k/largest/float32->float32,int64/dense/ties")
class ChoosesTheLastOfTies(_Selection):
    """Let the last of equal elements come first, as who sorts and turns round does."""

    meets = "top_k/largest/float32->float32,int64/dense"

    def spoil(self, x: Array, values: Array, indices: Array) -> None:
        of: Any = self.descriptor
        if of.sorted:
            self.put(x, np.argsort(x, -1, kind="stable")[..., ::-1], values, indices)


@killed_by("primitives/top_k/largest/float32->float32,int64/dense/nan")
class NeverChoosesNan(_Selection):
    """Count NaN as the smallest number, because no comparison with it is true."""

    meets = "top_k/largest/float32->float32,int64/dense"

    def spoil(self, x: Array, values: Array, indices: Array) -> None:
        of: Any = self.descriptor
        if of.sorted and np.isnan(x).any():
            self.put(x, np.argsort(-np.where(np.isnan(x), -np.inf, x), -1, kind="stable"), values, indices)


@killed_by("primitives/top_k/smallest/float16->float16,int64/dense/nan")
class WritesOneNan(_Selection):
    """Write the same NaN for all of them."""

    meets = "top_k/smallest/float16->float16,int64/dense"

    def spoil(self, x: Array, values: Array, indices: Array) -> None:
        del x, indices
        values[np.isnan(values)] = np.nan


@killed_by("primitives/top_k/largest/int8->int8,int64/dense/rows")
class MisplacesTheLast(_Selection):
    """Give the place behind that of the last chosen element."""

    meets = "top_k/largest/int8->int8,int64/dense"

    def spoil(self, x: Array, values: Array, indices: Array) -> None:
        del x, values
        indices[..., -1] += 1


@killed_by("primitives/top_k/largest/uint16->uint16,int64/dense/rows")
class LeavesTheChosenInAHeap(_Selection):
    """Leave the chosen in the order in which they stand in the row, where the best is to come first."""

    meets = "top_k/largest/uint16->uint16,int64/dense"

    def spoil(self, x: Array, values: Array, indices: Array) -> None:
        self.put(x, np.sort(indices, -1), values, indices)


@killed_by("primitives/top_k/smallest/int32->int32,int64/dense/unsorted")
class SortsUnasked(_Selection):
    """Let the best come first, whatever is asked for."""

    meets = "top_k/smallest/int32->int32,int64/dense"

    def spoil(self, x: Array, values: Array, indices: Array) -> None:
        self.put(x, np.argsort(x, -1, kind="stable"), values, indices)


@killed_by("primitives/top_k/smallest/uint64->uint64,int64/dense/rows")
class ComparesWithASign(_Selection):
    """Compare unsigned integers as signed ones."""

    meets = "top_k/smallest/uint64->uint64,int64/dense"

    def spoil(self, x: Array, values: Array, indices: Array) -> None:
        of: Any = self.descriptor
        if of.sorted:
            self.put(x, np.argsort(np.ascontiguousarray(x).view(np.int64), -1, kind="stable"), values, indices)


@killed_by("primitives/top_k/largest/float32->float32,int64/dense/9-of-16411")
class CountsPlacesInABlock(_Selection):
    """Give places in the block of 4096 that an element lies in."""

    meets = "top_k/largest/float32->float32,int64/dense"

    def spoil(self, x: Array, values: Array, indices: Array) -> None:
        del x, values
        indices %= 4096


@killed_by("primitives/top_k/largest/bool->bool,int64/dense/rows")
class TidiesTruth(_Selection):
    """Write 1 for every true byte of a bool."""

    meets = "top_k/largest/bool->bool,int64/dense"

    def spoil(self, x: Array, values: Array, indices: Array) -> None:
        del x, indices
        raw = values.view(np.uint8)
        raw[...] = raw != 0
