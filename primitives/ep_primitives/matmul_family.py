"""The cells of Matmul, and what the suite judges them by."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from ep.cells import dtypes_name

from ep import Cell, Descriptor, Family
from ep_primitives import matmul_cases, matmul_reference
from ep_primitives.matmul import MATMUL_DTYPES, Matmul
from ep_primitives.matmul_plans import PLANS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_primitives.accuracy import Accuracy
    from ep_primitives.case import Case
    from ep_primitives.reference import Reference

__all__ = ["MatmulFamily"]


class MatmulFamily(Family):
    """Each pair of element types of MATMUL_DTYPES in each layout."""

    name: ClassVar[str] = "matmul"
    descriptor: ClassVar[type[Descriptor]] = Matmul

    def cells(self) -> Iterator[Cell]:
        """Yield every cell."""
        for dtypes in self._dtypes:
            for layout in PLANS:
                yield Cell(self.name, "-", dtypes, layout)

    def sample(self, cell: Cell) -> Descriptor:
        """Return the descriptor of the cell's first case."""
        return next(self.cases(cell)).descriptor

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the cell."""
        return "1.0"

    def cases(self, cell: Cell) -> Iterator[Case]:
        """Yield the cases of the cell."""
        return matmul_cases.cases(*self._dtypes[cell.dtypes], cell.layout)

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the product in a wider type, with S."""
        return matmul_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Any) -> Accuracy:
        """Return the bound for the descriptor's number of terms."""
        return matmul_reference.accuracy(descriptor)

    @cached_property
    def _dtypes(self) -> dict[str, tuple[str, str]]:
        pairs = [(given, made) for given, outs in MATMUL_DTYPES.items() for made in outs]
        return {dtypes_name([given], made): (given, made) for given, made in pairs}
