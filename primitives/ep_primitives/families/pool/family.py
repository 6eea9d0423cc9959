"""The cells of Pool, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.families.pool import cases as pool_cases
from ep_primitives.families.pool import reference as pool_reference
from ep_primitives.families.pool.descriptor import Pool
from ep_primitives.families.pool.plans import PLANS
from ep_primitives.families.pool.rows import POOL_OPS, PoolOp
from ep_primitives.families.pool.situations import planned, pool_model
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep import Cell, Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["PoolFamily"]


class PoolFamily(PlannedFamily):
    """Each row of POOL_OPS with each of its element types in each layout."""

    name: ClassVar[str] = "pool"
    descriptor: ClassVar[type[Descriptor]] = Pool
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    has_one_kernel: ClassVar[bool] = True
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "image": ("float32",),
        "dilations": ("float64",),
        "pads-more-than-x": ("float32",),
        "ceil": ("int8",),
        "pads-count": ("float32",),
        "pads-count-ceil": ("float32",),
        "pads-count-none": ("float32",),
        "empty-x": ("float32",),
        "below-zero": ("float32",),
        "lowest": ("float32", "int8", "uint8"),
        "integers": ("float32",),
        "not-finite": ("float32", "bfloat16"),
        "signed-zeros": ("float32",),
        "one-sign": ("float32", "bfloat16"),
    }
    rows: ClassVar[Mapping[str, PoolOp]] = POOL_OPS

    def signatures(self) -> Iterator[Signature]:
        """Yield every row with every element type."""
        return (Signature(row.name, (dtype,), dtype) for row in self.rows.values() for dtype in row.dtypes)

    def since(self, cell: Cell) -> str:
        """Return the suite version that first held the row."""
        return self.rows[cell.op].since

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of a row and an element type in a layout."""
        return pool_cases.cases(signature.op, signature.out, layout)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return pool_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return pool_cases.planned_case(planned(layout, row, seed), signature.op, signature.out)

    def is_constant(self, descriptor: Any) -> bool:
        """Say whether windows see nothing of x."""
        return not descriptor.x.size

    def parts(self, descriptor: Any) -> Iterator[Pool]:
        """Yield single channels of single images, and all but the first along one of both dimensions."""
        whole: Pool = descriptor
        for window in rows(whole.x.shape, range(2)):
            made = (*window[:2], *((0, extent) for extent in whole.out.shape[2:]))
            yield Pool(
                whole.op,
                x=windowed(whole.x, window),
                y=windowed(whole.out, made),
                window=whole.window,
                strides=whole.strides,
                dilations=whole.dilations,
                pads=whole.pads,
                counts_pads=whole.counts_pads,
            )

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the window of x."""
        del inputs, output
        return {"x": (*at[:2], *descriptor.sliding.touched(at[2:], descriptor.x.shape[2:]))}

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the reduction of windows in a wider type, with S."""
        return pool_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Any) -> Accuracy:
        """Return the row's bound for the number of elements of a window."""
        return pool_reference.accuracy(descriptor)
