"""The page of element types, from the table of ep.dtypes."""

from __future__ import annotations

from typing import Final

from ep.dtypes import DTYPES
from ep.layout.cells import LAYOUTS

from ep_tools.website.directive import directive, fields

__all__ = ["page"]

_HEAD: Final = """# Element types and layouts

The element types of {py:class}`ep.TensorSpec`, by the names that descriptors, claims and cells use. `float8` types are stored,
copied, filled and cast, never computed with.
"""
_KINDS: Final = {
    "b": "truth value; any byte but 0 is true",
    "i": "signed integer",
    "u": "unsigned integer",
    "f": "floating",
    "c": "complex",
}
_LAYOUTS: Final = """## Layouts

The last part of a cell: how the operands of its cases lie in memory.
"""
_MEANINGS: Final = {
    "dense": "every operand contiguous, rows first",
    "strided": "operands with gaps, negative strides, or their axes in another order",
    "broadcast": "an input with fewer elements than the output, repeated by a stride of 0",
    "scalar-left": "a number of the launch in place of the left tensor",
    "scalar-right": "a number of the launch in place of the right tensor",
    "inplace": "the output in the memory of an input",
    "offset": "operands that do not begin where their memory does",
    "empty": "operands without elements",
    "rank0": "operands of no dimensions: one element",
}


def page() -> str:
    """Return the page. Raises KeyError for a layout that is not described."""
    lines = [_HEAD]
    for name, row in DTYPES.items():
        bits = f"1 sign bit, {row.exponent} of exponent, {row.fraction} of fraction" + " a part" * (row.kind == "c")
        facts = {
            "bytes": str(row.itemsize),
            "bits": bits if row.fraction else "",
            "range": f"{row.range[0]} to {row.range[1]}" if row.kind in "iu" else "",
            "computed in": "itself" if row.compute == name else f"`{row.compute}`, rounded once at the end",
        }
        lines += directive("dtype", name, [_KINDS[row.kind], *fields(facts)])
    lines.append(_LAYOUTS)
    for layout in LAYOUTS:
        lines += directive("layout", layout, [_MEANINGS[layout]])
    return "\n".join(lines)
