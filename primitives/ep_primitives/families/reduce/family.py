"""The cells of Reduce, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import ep
from ep_primitives.cases.signature import Signature
from ep_primitives.families.reduce import cases as reduce_cases
from ep_primitives.families.reduce import reference as reduce_reference
from ep_primitives.families.reduce.descriptor import Reduce
from ep_primitives.families.reduce.rows import REDUCE_OPS, ReduceOp
from ep_primitives.judging.origin import row_index
from ep_primitives.reductions.dimensions import windows
from ep_primitives.reductions.plans import PLANS
from ep_primitives.reductions.situations import PATTERNS, reduction_model
from ep_primitives.situations.family import SituatedFamily

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from ep import Cell, Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["ReduceFamily"]

_WORD: Final = 4
"""The bytes of the elements of most kernels; there are larger ones."""


class ReduceFamily(SituatedFamily):
    """Each row of REDUCE_OPS with each pair of its element types in each layout."""

    name: ClassVar[str] = "reduce"
    descriptor: ClassVar[type[Descriptor]] = Reduce
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    rows: ClassVar[Mapping[str, ReduceOp]] = REDUCE_OPS
    convicting = frozenset({"sum/float64/dense/length-17", "sum/float32/strided/windows"})

    def signatures(self) -> Iterator[Signature]:
        """Yield every pair of element types of every row."""
        for row in self.rows.values():
            for given, outs in row.outs.items():
                for made in outs:
                    yield Signature(row.name, (given,), made)

    def has(self, signature: Signature, layout: str) -> bool:  # noqa: ARG002 - the interface is SituatedFamily's
        """Say yes: every signature has every layout."""
        return True

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of a signature in a layout."""
        if layout == "dense":
            yield from reduce_cases.about_values(signature)
        yield from self.constructed(signature, layout)
        yield from reduce_cases.cases(signature, layout)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return reduction_model(layout, PATTERNS, has_values=False)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return reduce_cases.situated(signature, layout, row, seed)

    def kernel(self, signature: Signature) -> Hashable:
        """Return whether an op tests, compares or computes, and computes of which size of elements."""
        dtype = signature.inputs[0]
        if signature.op in {"any", "all"} or dtype == "bool":
            return "tests"
        return "compares" if signature.op in {"max", "min"} else ep.dtype(dtype).itemsize > _WORD

    def lacks(self, signature: Signature, layout: str) -> Mapping[str, Sequence[str]]:
        """Return that rows of truth values do not overlap: one of them would decide for all."""
        is_test = self.kernel(signature) == "tests" and layout == "strided"
        return {"form-x": ("windows",)} if is_test else {}

    def since(self, cell: Cell) -> str:
        """Return the suite version that first held the row, or its pair of element types if that is younger."""
        row, signature = self.rows[cell.op], self.signature(cell)
        return row.newer.get((signature.inputs[0], signature.out), row.since)

    def parts(self, descriptor: Any) -> Iterator[Reduce]:
        """Yield single rows, and all but the first."""
        for x, out in windows(descriptor):
            yield Reduce(descriptor.op, x=x, out=out, axis=descriptor.axes)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of x."""
        del inputs, output
        return {"x": row_index(descriptor.x.ndim, descriptor.axes, at)}

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the reduction in a wider type, with S."""
        return reduce_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Any) -> Accuracy:
        """Return the bound for the descriptor's number of terms."""
        return reduce_reference.accuracy(descriptor)
