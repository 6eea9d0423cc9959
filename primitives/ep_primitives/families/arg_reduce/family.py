"""The cells of ArgReduce, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep_primitives.cases.signature import Signature
from ep_primitives.families.arg_reduce import cases as arg_reduce_cases
from ep_primitives.families.arg_reduce.descriptor import ARG_REDUCE_DTYPES, ARG_REDUCE_OPS, ArgReduce, ArgReduceOp
from ep_primitives.families.reduce import reference as reduce_reference
from ep_primitives.judging.accuracy import INTEGRAL, Exact
from ep_primitives.judging.origin import row_index
from ep_primitives.reductions.dimensions import windows
from ep_primitives.reductions.plans import PLANS
from ep_primitives.reductions.situations import PLACES, reduction_model
from ep_primitives.situations.family import SituatedFamily

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep import Cell, Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["ArgReduceFamily"]


class ArgReduceFamily(SituatedFamily):
    """Both ops with each element type of x and of out in each layout; all results are exact."""

    name: ClassVar[str] = "arg_reduce"
    descriptor: ClassVar[type[Descriptor]] = ArgReduce
    exact: ClassVar[Exact] = INTEGRAL
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    rows: ClassVar[Mapping[str, ArgReduceOp]] = ARG_REDUCE_OPS
    convicting = frozenset({"min/float64->int64/dense/length-4097", "max/int32->int64/strided/negative"})

    def signatures(self) -> Iterator[Signature]:
        """Yield both ops with every pair of element types."""
        for op in self.rows:
            for dtype in ARG_REDUCE_DTYPES:
                for out in ("int64", "int32"):
                    yield Signature(op, (dtype,), out)

    def has(self, signature: Signature, layout: str) -> bool:  # noqa: ARG002 - the interface is SituatedFamily's
        """Say yes: every signature has every layout."""
        return True

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of a signature in a layout."""
        if layout == "dense":
            yield from arg_reduce_cases.about_values(signature)
        yield from self.constructed(signature, layout)
        yield from arg_reduce_cases.cases(signature, layout)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return reduction_model(layout, PLACES, has_values=True)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return arg_reduce_cases.situated(signature, layout, row, seed)

    def kernel(self, signature: Signature) -> Hashable:  # noqa: ARG002 - the interface is SituatedFamily's
        """Return one for all: elements of all types meet the situations in turn."""
        return None

    def since(self, cell: Cell) -> str:
        """Return the suite version that first held the row."""
        return self.rows[cell.op].since

    def is_constant(self, descriptor: Any) -> bool:
        """Say whether every row is one element, over and over, so that its place is 0."""
        return not any(descriptor.reduced.strides[0])

    def parts(self, descriptor: Any) -> Iterator[ArgReduce]:
        """Yield single rows, and all but the first."""
        for x, out in windows(descriptor):
            yield ArgReduce(descriptor.op, x=x, out=out, axis=descriptor.axis)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of x."""
        del inputs, output
        return {"x": row_index(descriptor.x.ndim, descriptor.axes, at)}

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the places."""
        return reduce_reference.places(descriptor, inputs)
