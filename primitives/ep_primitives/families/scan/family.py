"""The cells of Scan, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.families.scan import cases as scan_cases
from ep_primitives.families.scan import reference as scan_reference
from ep_primitives.families.scan.descriptor import Scan
from ep_primitives.families.scan.plans import LAYOUTS
from ep_primitives.families.scan.rows import SCAN_OPS, ScanOp
from ep_primitives.judging.origin import row_index
from ep_primitives.situations.along import along_model
from ep_primitives.situations.family import SituatedFamily
from ep_primitives.situations.model import Dimension

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from ep import Cell, Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["ScanFamily"]

_WAYS: Final = Dimension("way-of-rows", ("forth", "forth-exclusive", "back", "back-exclusive"))


class ScanFamily(SituatedFamily):
    """Each row of SCAN_OPS with each of its element types in each layout."""

    name: ClassVar[str] = "scan"
    descriptor: ClassVar[type[Descriptor]] = Scan
    layouts: ClassVar[tuple[str, ...]] = LAYOUTS
    rows: ClassVar[Mapping[str, ScanOp]] = SCAN_OPS
    convicting = frozenset({"sum/float16/dense/rows", "prod/int32/dense/reverse", "sum/float32/strided/windows"})

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type of every row."""
        for row in self.rows.values():
            for dtype in row.dtypes:
                yield Signature(row.name, (dtype,), dtype)

    def has(self, signature: Signature, layout: str) -> bool:  # noqa: ARG002 - the interface is SituatedFamily's
        """Say yes: every signature has every layout."""
        return True

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of a signature in a layout."""
        by_hand = [*scan_cases.cases(signature.op, signature.out, layout)]
        yield from (case for case in by_hand if case.profile == "quick")
        yield from self.constructed(signature, layout)
        yield from (case for case in by_hand if case.profile != "quick")

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout, in each of which rows are scanned in one of four ways."""
        return along_model(layout, ("x",), (_WAYS,))

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return scan_cases.situated(signature.op, signature.out, layout, row, seed)

    def kernel(self, signature: Signature) -> Hashable:  # noqa: ARG002 - the interface is SituatedFamily's
        """Return one for all: ops and element types meet the situations in turn."""
        return None

    def lacks(self, signature: Signature, layout: str) -> Mapping[str, Sequence[str]]:  # noqa: ARG002 - as above
        """Return that the longest rows are hand-made ones: few references are wide enough for them."""
        return {"row": ("past",)} if layout == "dense" else {}

    def since(self, cell: Cell) -> str:
        """Return the suite version that first held the row."""
        return self.rows[cell.op].since

    def is_constant(self, descriptor: Any) -> bool:
        """Return True if each row is the identity for any x."""
        return bool(descriptor.exclusive and descriptor.extent == 1)

    def parts(self, descriptor: Any) -> Iterator[Scan]:
        """Yield single rows, and all but the first."""
        whole: Scan = descriptor
        for window in rows(whole.out.shape, [axis for axis in range(whole.out.ndim) if axis != whole.axis]):
            x, out = windowed(whole.x, window), windowed(whole.out, window)
            yield Scan(whole.op, x=x, out=out, axis=whole.axis, exclusive=whole.exclusive, reverse=whole.reverse)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of x."""
        del inputs, output
        return {"x": row_index(len(at), {descriptor.axis}, at)}

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the scan in a wider type, with S."""
        return scan_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Any) -> Accuracy:
        """Return the bound for the extent of a row."""
        return SCAN_OPS[descriptor.op].accuracy_of(descriptor.x.dtype, descriptor.extent)
