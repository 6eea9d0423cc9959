"""The cells of Gather, and how the suite judges them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ep_primitives.cases.signature import Signature
from ep_primitives.families.gather import cases as gather_cases
from ep_primitives.families.gather.descriptor import GATHER_DTYPES, INDEX_DTYPES, Gather
from ep_primitives.families.gather.situations import gather_model, planned
from ep_primitives.judging.reference import Reference, widened
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep import Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Array
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["GatherFamily"]


class GatherFamily(PlannedFamily):
    """Each element type with each type of index in each layout."""

    name: ClassVar[str] = "gather"
    descriptor: ClassVar[type[Descriptor]] = Gather
    layouts: ClassVar[tuple[str, ...]] = tuple(gather_cases.PLANS)
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "edges": ("float32,int32->float32", "float32,int64->float32"),
        "edges-last-axis": ("uint8,int32->uint8", "float32,int64->float32"),
        "batch": ("int16,int32->int16",),
        "box": ("float16,int32->float16", "float64,int64->float64"),
        "out-of-range": ("float32,int32->float32", "float32,int64->float32"),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type with every type of index."""
        for dtype in GATHER_DTYPES:
            for index in INDEX_DTYPES:
                yield Signature("-", (dtype, index), dtype)

    def has(self, signature: Signature, layout: str) -> bool:
        """Say that every signature has every layout."""
        del signature
        return layout in self.layouts

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of a pair of types in a layout."""
        dtype, index = signature.inputs
        return gather_cases.cases(dtype, index, layout)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return gather_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return gather_cases.planned_case(planned(layout, row, seed), *signature.inputs)

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the elements taken."""
        return Reference(widened(descriptor.out.dtype, self.moved(descriptor, inputs)))

    def moved(self, descriptor: Any, inputs: Mapping[str, Any]) -> Array:
        """Return the elements taken, bit for bit, and 0 where an index is out of range."""
        x, indices = inputs["x"], inputs["indices"]
        axis, shared, extent = descriptor.axis, descriptor.batch_dims, descriptor.extent
        batches, outer = (math.prod(extents) for extents in (x.shape[:shared], x.shape[shared:axis]))
        inner, places = math.prod(x.shape[axis + 1 :]), math.prod(indices.shape[shared:])
        asked = indices.reshape(batches, places)
        is_there = (asked >= 0) & (asked < extent)
        taken = np.zeros((batches, places, outer, inner), x.dtype)
        rows = x.reshape(batches, outer, extent, inner)
        batch, place = np.nonzero(is_there)
        taken[batch, place] = rows[batch, :, asked[batch, place]]
        return np.asarray(taken.transpose(0, 2, 1, 3).reshape(descriptor.out.shape))

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the index, and the element of x that it names, if there is one."""
        del output
        axis, shared, x = descriptor.axis, descriptor.batch_dims, descriptor.x
        places = inputs["indices"].ndim - shared
        place = (*at[:shared], *at[axis : axis + places])
        asked = int(inputs["indices"][place])
        found: dict[str, Index] = {"indices": place}
        if 0 <= asked < descriptor.extent:
            found["x"] = (*at[:axis], asked, *at[axis + places :]) if x.shape else ()
        return found

    def is_constant(self, descriptor: Any) -> bool:
        """Return True if no index can be in range, so that the output is zeros for any inputs."""
        return bool(descriptor.extent == 0)
