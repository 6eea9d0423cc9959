"""The cells of OneHot, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ep_primitives.cases.signature import Signature, SignatureFamily
from ep_primitives.families.gather.descriptor import INDEX_DTYPES
from ep_primitives.families.one_hot import cases as one_hot_cases
from ep_primitives.families.one_hot.descriptor import ONE_HOT_DTYPES, OneHot
from ep_primitives.judging.reference import Reference, widened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep import Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.origin import Index

__all__ = ["OneHotFamily"]


class OneHotFamily(SignatureFamily):
    """Each type of index with each element type in each layout."""

    name: ClassVar[str] = "one_hot"
    descriptor: ClassVar[type[Descriptor]] = OneHot
    layouts: ClassVar[tuple[str, ...]] = tuple(one_hot_cases.PLANS)

    def signatures(self) -> Iterator[Signature]:
        """Yield every type of index with every element type."""
        for index in INDEX_DTYPES:
            for dtype in ONE_HOT_DTYPES:
                yield Signature("-", (index,), dtype)

    def has(self, signature: Signature, layout: str) -> bool:
        """Say that every signature has every layout."""
        del signature
        return layout in self.layouts

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of a pair of types in a layout."""
        return one_hot_cases.cases(signature.inputs[0], signature.out, layout)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the index that says on or off."""
        del inputs, output
        return {"indices": (*at[: descriptor.axis], *at[descriptor.axis + 1 :])}

    def reference(self, descriptor: Any, inputs: Mapping[str, Any]) -> Reference:
        """Return both numbers where they belong."""
        out, axis = descriptor.out, descriptor.axis
        on, off = (widened(out.dtype, inputs[name]) for name in ("on", "off"))
        # Python's integers do not wrap, where first is next to an end of int64.
        place = [1] * out.ndim
        place[axis] = descriptor.classes
        numbers = np.array([descriptor.first + c for c in range(descriptor.classes)], np.int64).reshape(place)
        is_on = np.expand_dims(inputs["indices"].astype(np.int64), axis) == numbers
        return Reference(np.where(is_on, on, off))
