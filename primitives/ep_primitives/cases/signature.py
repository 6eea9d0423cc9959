"""Base of families whose cells are op, element types and layout: a signature is a cell without its layout."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ep.layout.cells import dtypes_name

from ep import Cell, Descriptor, Family
from ep_primitives.judging.accuracy import MOVED, Accuracy, Exact
from ep_primitives.judging.edges import proofs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from ep_primitives.cases.case import Case

__all__ = ["Signature", "SignatureFamily"]


class Signature(NamedTuple):
    """An op with the element types of its inputs and its output: a cell without its layout."""

    op: str
    inputs: tuple[str, ...]
    out: str

    @property
    def dtypes(self) -> str:
        """The dtypes part of a cell."""
        return dtypes_name(self.inputs, self.out)


class SignatureFamily(Family):
    """A family that lists its signatures, and the cases that one has in a layout; all else follows from these two."""

    layouts: ClassVar[tuple[str, ...]]
    exact: ClassVar[Exact] = MOVED
    """Why results are exact, of a family without rows that say more."""
    convicting: ClassVar[AbstractSet[str]] = frozenset()
    """Cases, as "op/dtypes/layout/name", that profile quick runs because a known defect dies of no other quick one."""

    @abstractmethod
    def signatures(self) -> Iterator[Signature]:
        """Yield every op with every combination of its element types."""

    @abstractmethod
    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of a signature in a layout, a typical one first; none if it does not have the layout."""

    def accuracy(self, descriptor: Descriptor) -> Accuracy:  # noqa: ARG002 - the interface is ep.Family's
        """Return the accuracy of results: exact, unless the family's rows state another."""
        return self.exact

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the cell."""
        return "1.0"

    def cells(self) -> Iterator[Cell]:
        """Yield every signature in every layout in which it has a case."""
        for signature in self.signatures():
            for layout in self.layouts:
                if self.has(signature, layout):
                    yield Cell(self.name, signature.op, signature.dtypes, layout)

    def has(self, signature: Signature, layout: str) -> bool:
        """Say whether a signature has a layout. Override it where that is known without making a case."""
        return any(True for _ in self.cases_of(signature, layout))

    def sample(self, cell: Cell) -> Descriptor:
        """Return the descriptor of the cell's first case, a small one, to ask `accepts` with."""
        return next(self.cases_of(self.signature(cell), cell.layout)).descriptor

    def cases(self, cell: Cell) -> Iterator[Case]:
        """Yield the cases of the cell, quick those that prove an edge rule, and those that convict a known defect."""
        within = str(cell).partition("/")[2]
        quick = proofs().get(str(cell), frozenset()) | {
            name for place, _, name in (each.rpartition("/") for each in self.convicting) if place == within
        }
        for case in self.cases_of(self.signature(cell), cell.layout):
            yield case.early() if case.name in quick else case

    def signature(self, cell: Cell) -> Signature:
        """Return the signature of a cell of this family; KeyError if it has no such cell."""
        return self._by_name[cell.op, cell.dtypes]

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], Signature]:
        return {(signature.op, signature.dtypes): signature for signature in self.signatures()}
