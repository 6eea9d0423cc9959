"""The cells of OneHot, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import ep
from ep_primitives.cases.signature import Signature
from ep_primitives.families.gather.descriptor import INDEX_DTYPES
from ep_primitives.families.one_hot import cases as one_hot_cases
from ep_primitives.families.one_hot.descriptor import ONE_HOT_DTYPES, OneHot
from ep_primitives.families.one_hot.situations import one_hot_model, planned
from ep_primitives.judging.reference import Reference, widened
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep import Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.origin import Index
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["OneHotFamily"]


class OneHotFamily(PlannedFamily):
    """Each type of index with each element type in each layout."""

    name: ClassVar[str] = "one_hot"
    descriptor: ClassVar[type[Descriptor]] = OneHot
    layouts: ClassVar[tuple[str, ...]] = tuple(one_hot_cases.PLANS)
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "edges": ("int32->int8", "int64->uint8"),
        "first-edges": ("int32->float32", "int64->float32"),
        "first-is-the-least": ("int64->float32",),
        "last-is-the-greatest": ("int64->float32",),
        "classes-1025": ("int32",),
        "on-is-off": ("int64->float32",),
        "one-and-zero": ("int32->bool", "int64->float32"),
        "off-seven": ("int64->int16",),
        "on-bytes": ("int64",),
        "on-nan": ("int64->float32", "int64->bfloat16"),
        "off-nan": ("int64->float32", "int64->bfloat16"),
        "on-negative-zero": ("int64->float32", "int64->complex64"),
        "off-negative-zero": ("int64->float32", "int64->complex64"),
        "off-subnormal": ("int64->float64", "int64->float16"),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every type of index with every element type."""
        for index in INDEX_DTYPES:
            for dtype in ONE_HOT_DTYPES:
                yield Signature("-", (index,), dtype)

    def has(self, signature: Signature, layout: str) -> bool:
        """Say that every signature has every layout."""
        del signature
        return layout in self.layouts

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of a pair of types in a layout."""
        return one_hot_cases.cases(signature.inputs[0], signature.out, layout)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return one_hot_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        (index,) = signature.inputs
        return one_hot_cases.planned_case(
            planned(layout, row, seed, 8 * ep.dtype(index).itemsize), index, signature.out
        )

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the tensors with their element types."""
        return (("indices", signature.inputs[0]), ("out", signature.out))

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
