"""Base of families whose plans state cases by hand: constructed cases lie beside them, and quick keeps few by hand."""

from __future__ import annotations

from abc import abstractmethod
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

import ep
from ep_primitives.situations.family import SituatedFamily

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep_primitives.cases.case import Case
    from ep_primitives.cases.signature import Signature

__all__ = ["ALL", "PlannedFamily"]

ALL: Final = "*"
"""In `early` the types of every cell."""

_NARROW: Final = 2
"""Bytes of elements that processors hardly move alone."""


class PlannedFamily(SituatedFamily):
    """A family that has cases by hand in every cell, which are of profile standard unless they are about values.

    early          : by name the cases by hand that stay quick, with the types of the cells in which they do
    has_one_kernel : True if profile quick takes all element types for one kernel's, not narrow ones apart
    """

    early: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    has_one_kernel: ClassVar[bool] = False

    @abstractmethod
    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of a signature in a layout, a typical one first."""

    def kernel(self, signature: Signature) -> Hashable:
        """Return whether elements are narrow; all other types meet the same situations in turn."""
        return not self.has_one_kernel and ep.dtype(signature.out).itemsize <= _NARROW

    def has(self, signature: Signature, layout: str) -> bool:
        """Say whether a signature has a case by hand in a layout."""
        return any(True for _ in self.by_hand(signature, layout))

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand, then the constructed ones."""
        for case in self.by_hand(signature, layout):
            types = self.early.get(case.name, ())
            yield case if ALL in types or signature.dtypes in types else case.late()
        yield from self.constructed(signature, layout)
