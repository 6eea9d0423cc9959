"""Element types: what the dialect computes with, and how it calls them."""

from __future__ import annotations

from typing import Final

__all__ = ["ELEMENTS", "kind_of"]

ELEMENTS: Final = {"bool": "bool", "int32": "i32", "float16": "f16", "float32": "f32", "float64": "f64"}
"""The element types that the dialect computes with, and how they are called in C after `ep_`."""


def kind_of(element: str) -> str:
    """Return BOOLEAN, INTEGER or FLOATING for a name in C."""
    return "BOOLEAN" if element == "bool" else "FLOATING" if element[0] == "f" else "INTEGER"
