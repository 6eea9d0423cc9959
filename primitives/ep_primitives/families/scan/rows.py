"""The rows of Scan: each is a reduction of Reduce over the elements of a row so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ep_primitives.elementwise.op import COMPLEXES, FLOATS, INTEGERS
from ep_primitives.families.reduce.rows import REDUCE_OPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.judging.accuracy import Accuracy

__all__ = ["SCAN_OPS", "ScanOp"]


@dataclass(frozen=True, slots=True)
class ScanOp:
    """One scan.

    name       : as in descriptors and cells; also the reduction's
    dtypes     : of x and of out
    definition : out_i over the elements x_1, x_2, ... of a row
    """

    name: str
    dtypes: tuple[str, ...]
    definition: str
    since: str = "1.1"

    @property
    def source(self) -> str:
        """Where the bound comes from: it is the reduction's."""
        return REDUCE_OPS[self.name].source

    @property
    def accuracy(self) -> str:
        """The bound in words."""
        return f"{REDUCE_OPS[self.name].accuracy}, of the elements so far, n all of the row"

    @property
    def note(self) -> str:
        """A remark for the documentation."""
        return REDUCE_OPS[self.name].note.partition("; without a dtype")[0]

    def accuracy_of(self, dtype: str, extent: int) -> Accuracy:
        """Return the accuracy for rows of an extent: the one of a reduction of the whole row."""
        return REDUCE_OPS[self.name].accuracy_of(dtype, dtype, extent)

    def identity_of(self, dtype: str) -> bool | int | float:
        """Return the first element of an exclusive scan."""
        return REDUCE_OPS[self.name].identity_of(dtype)


_NUMBERS: Final = (*INTEGERS, *FLOATS, *COMPLEXES)
_ORDERED: Final = (*INTEGERS, *FLOATS)

SCAN_OPS: Final[Mapping[str, ScanOp]] = {
    row.name: row
    for row in (
        ScanOp("sum", _NUMBERS, "out_i = x_1 + x_2 + ... + x_i; integers modulo 2^bits"),
        ScanOp("prod", _NUMBERS, "out_i = x_1 x_2 ... x_i; integers modulo 2^bits"),
        ScanOp("max", _ORDERED, "out_i = the largest of x_1, ..., x_i"),
        ScanOp("min", _ORDERED, "out_i = the smallest of x_1, ..., x_i"),
    )
}
"""The scans by name."""
