"""The cells of TopK, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from ep.layout.cells import dtypes_name

from ep import Cell
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.families.top_k import cases as top_k_cases
from ep_primitives.families.top_k.descriptor import TOP_K_DTYPES, TOP_K_OPS, TopK, TopKOp
from ep_primitives.families.top_k.plans import PLANS
from ep_primitives.judging.accuracy import MOVED, Exact
from ep_primitives.judging.origin import row_index
from ep_primitives.judging.reference import Array, Reference, widened
from ep_primitives.situations.along import along_model
from ep_primitives.situations.family import SituatedFamily
from ep_primitives.situations.model import Dimension, Model, Never

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep import Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.origin import Index
    from ep_primitives.situations.family import Row

__all__ = ["TopKFamily"]

_K: Final = Dimension("k", ("few", "one", "half", "all"))
_SORTED: Final = Dimension("sorted", ("yes", "no"))
_ONE: Final = Never({"k": ("one",), "rank": ("1",)}, "one element of one row shows no fault")
_EQUAL: Final = Never({"k": ("one",), "form-x": ("zero-first",)}, "equal rows have one element each")


class TopKFamily(SituatedFamily):
    """Both ops with each element type in each layout; all results are exact."""

    name: ClassVar[str] = "top_k"
    descriptor: ClassVar[type[Descriptor]] = TopK
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    rows: ClassVar[Mapping[str, TopKOp]] = TOP_K_OPS
    convicting = frozenset(
        {"smallest/int32->int32,int64/dense/unsorted", "largest/float32->float32,int64/dense/9-of-16411"}
    )

    def signatures(self) -> Iterator[Signature]:
        """Yield both ops with each element type."""
        return (Signature(op, (dtype,), dtype) for op in self.rows for dtype in TOP_K_DTYPES)

    def signature(self, cell: Cell) -> Signature:
        """Return the signature of a cell."""
        dtype = cell.dtypes.partition("->")[0]
        return Signature(cell.op, (dtype,), dtype)

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the operands with their element types."""
        return (("x", signature.out), ("values", signature.out), ("indices", "int64"))

    def cells(self) -> Iterator[Cell]:
        """Yield both ops with each element type in each layout."""
        for op, _, dtype in self.signatures():
            for layout in self.layouts:
                yield Cell(self.name, op, dtypes_name((dtype,), dtype, "int64"), layout)

    def has(self, signature: Signature, layout: str) -> bool:  # noqa: ARG002 - the interface is SituatedFamily's
        """Say yes: every signature has every layout."""
        return True

    def since(self, cell: Cell) -> str:
        """Return the suite version that first held the row."""
        return self.rows[cell.op].since

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of a signature in a layout."""
        by_hand = [*top_k_cases.cases(signature.op, signature.out, layout)]
        yield from (case for case in by_hand if case.profile == "quick")
        yield from self.constructed(signature, layout)
        yield from (case for case in by_hand if case.profile != "quick")

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout: how many elements are asked for, and in which order."""
        model = along_model(layout, ("x",), (_K, _SORTED), outs=("values", "indices"), has_few=False)
        rules = {"dense": (_ONE,), "strided": (_ONE, _EQUAL)}.get(layout, ())
        return Model(model.dimensions, (*model.rules, *rules))

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return top_k_cases.situated(signature.op, signature.out, layout, row, seed)

    def kernel(self, signature: Signature) -> Hashable:  # noqa: ARG002 - the interface is SituatedFamily's
        """Return one for all: ops and element types meet the situations in turn."""
        return None

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
