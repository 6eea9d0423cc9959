"""Element types: the types that the dialect computes with, and their names in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ELEMENTS", "kind_of", "kinds_of", "unknown"]

ELEMENTS: Final = {
    "bool": "bool",
    "int32": "i32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
}
"""The element types that the dialect computes with, and how they are called in C after `ep_`."""


def unknown(dtypes: Iterable[str]) -> str:
    """Return why nothing computes with some of these types, "" if the dialect has them all."""
    lacking = sorted({dtype for dtype in dtypes if dtype and dtype not in ELEMENTS})
    return f"the dialect has no {', '.join(lacking)}; it has {', '.join(ELEMENTS)}" if lacking else ""


def kind_of(element: str) -> str:
    """Return BOOLEAN, INTEGER or FLOATING for a name in C."""
    return kinds_of(element)[-1]


def kinds_of(element: str) -> tuple[str, ...]:
    """Return the kinds of a name in C: BOOLEAN, INTEGER or FLOATING, and ahead of the last NARROW (16 bits) or WIDE."""
    if element == "bool":
        return ("BOOLEAN",)
    if element[0] not in "bf":
        return ("INTEGER",)
    return ("NARROW" if element.endswith("16") else "WIDE"), "FLOATING"
