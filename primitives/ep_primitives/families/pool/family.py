"""The cells of Pool, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep_primitives.cases.signature import Signature, SignatureFamily
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.families.pool import cases as pool_cases
from ep_primitives.families.pool import reference as pool_reference
from ep_primitives.families.pool.descriptor import Pool
from ep_primitives.families.pool.plans import PLANS
from ep_primitives.families.pool.rows import POOL_OPS, PoolOp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep import Cell, Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference

__all__ = ["PoolFamily"]


class PoolFamily(SignatureFamily):
    """Each row of POOL_OPS with each of its element types in each layout."""

    name: ClassVar[str] = "pool"
    descriptor: ClassVar[type[Descriptor]] = Pool
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    rows: ClassVar[Mapping[str, PoolOp]] = POOL_OPS

    def signatures(self) -> Iterator[Signature]:
        """Yield every row with every element type."""
        return (Signature(row.name, (dtype,), dtype) for row in self.rows.values() for dtype in row.dtypes)

    def since(self, cell: Cell) -> str:
        """Return the suite version that first held the row."""
        return self.rows[cell.op].since

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of a row and an element type in a layout."""
        return pool_cases.cases(signature.op, signature.out, layout)

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
