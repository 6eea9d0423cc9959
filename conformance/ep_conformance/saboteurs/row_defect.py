"""Defects that spoil reductions, row by row."""

from __future__ import annotations

from typing import Any, Final

from ep_conformance.saboteurs.kernel import Array, Defect

__all__ = ["BLOCK", "RowDefect"]


BLOCK: Final = 1024
"""Elements of a row that are summed at a time."""


class RowDefect(Defect):
    """Spoils a reduction of rows: `rows` has them along its last axis, `out` one element for each."""

    def spoil(self, given: dict[str, Any], out: Array) -> None:
        of: Any = self.descriptor
        x = given["x"]
        axes = of.axes if of.family == "reduce" else range(x.ndim) if of.axis is None else (of.axis,)
        kept = [axis for axis in range(x.ndim) if axis not in set(axes)]
        rows = x.transpose(*kept, *sorted(axes)).reshape(*(x.shape[axis] for axis in kept), -1)
        if out.flags.c_contiguous:
            self.reduce(rows, out.reshape(rows.shape[:-1]))

    def reduce(self, rows: Array, out: Array) -> None:
        raise NotImplementedError
