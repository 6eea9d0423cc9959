"""The cells of TopK, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ep.layout.cells import dtypes_name

from ep import Cell, Family
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.families.top_k import cases as top_k_cases
from ep_primitives.families.top_k.descriptor import TOP_K_DTYPES, TOP_K_OPS, TopK, TopKOp
from ep_primitives.families.top_k.plans import PLANS
from ep_primitives.judging.accuracy import MOVED, Exact
from ep_primitives.judging.origin import row_index
from ep_primitives.judging.reference import Array, Reference, widened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep import Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.origin import Index

__all__ = ["TopKFamily"]


class TopKFamily(Family):
    """Both ops with each element type in each layout; all results are exact."""

    name: ClassVar[str] = "top_k"
    descriptor: ClassVar[type[Descriptor]] = TopK
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    rows: ClassVar[Mapping[str, TopKOp]] = TOP_K_OPS

    def cells(self) -> Iterator[Cell]:
        """Yield both ops with each element type in each layout."""
        for op in self.rows:
            for dtype in TOP_K_DTYPES:
                for layout in self.layouts:
                    yield Cell(self.name, op, dtypes_name((dtype,), dtype, "int64"), layout)

    def since(self, cell: Cell) -> str:
        """Return the suite version that first held the row."""
        return self.rows[cell.op].since

    def sample(self, cell: Cell) -> Descriptor:
        """Return the descriptor of the first case."""
        return next(self.cases(cell)).descriptor

    def cases(self, cell: Cell) -> Iterator[Case]:
        """Yield the cases of the cell."""
        return top_k_cases.cases(cell.op, cell.dtypes.partition("->")[0], cell.layout)

    def accuracy(self, descriptor: Descriptor) -> Exact:  # noqa: ARG002 - the interface is ep.Family's
        """Say that results are exact."""
        return MOVED

    def is_constant(self, descriptor: Any) -> dict[str, bool]:
        """Return which outputs are one value for any x: places in rows of one element, or of one element repeated."""
        return {"values": False, "indices": descriptor.extent == 1 or not descriptor.steps[0]}

    def parts(self, descriptor: Any) -> Iterator[TopK]:
        """Yield single rows, and all but the first."""
        whole: TopK = descriptor
        for window in rows(whole.out.shape, [axis for axis in range(whole.out.ndim) if axis != whole.axis]):
            long = (*window[: whole.axis], (0, whole.extent), *window[whole.axis + 1 :])
            values, indices = (windowed(spec, window) for spec in whole.outputs.values())
            x = windowed(whole.x, long)
            yield TopK(whole.op, x=x, values=values, indices=indices, axis=whole.axis, sorted=whole.sorted)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of x."""
        del inputs, output
        return {"x": row_index(descriptor.x.ndim, {descriptor.axis}, at)}

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> dict[str, Reference]:
        """Return the elements as their reference takes them, and their places."""
        places = _places(descriptor, inputs["x"])
        values = _taken(descriptor, widened(descriptor.x.dtype, inputs["x"]), places)
        return {"values": Reference(values), "indices": Reference(places)}

    def moved(self, descriptor: Any, inputs: dict[str, Any]) -> dict[str, Array]:
        """Return the elements bit for bit."""
        return {"values": _taken(descriptor, inputs["x"], _places(descriptor, inputs["x"]))}


def _places(descriptor: TopK, x: Array) -> Array:
    """Return the indices by NumPy's stable sort, NaN last; for the largest it sorts reversed rows, read backwards."""
    if not descriptor.out.shape:
        return np.zeros((), np.int64)
    given, axis, extent, k = widened(descriptor.x.dtype, x), descriptor.axis, descriptor.extent, descriptor.k
    if descriptor.op == "smallest":
        order = np.argsort(given, axis, kind="stable")
    else:
        backwards = np.argsort(np.flip(given, axis), axis, kind="stable")
        order = extent - 1 - np.flip(backwards, axis)
    chosen = order.take(np.arange(k), axis)
    return np.asarray(chosen if descriptor.sorted else np.sort(chosen, axis), np.int64)


def _taken(descriptor: TopK, x: Array, places: Array) -> Array:
    return x.copy() if not descriptor.out.shape else np.take_along_axis(x, places, descriptor.axis)
