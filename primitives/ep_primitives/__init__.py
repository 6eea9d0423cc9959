"""The meaning of operations: families of operations, a folder each, and the parts that they share.

Importing it loads nothing heavy; the names below are loaded when they are first used. Families are found in `families/`;
`__init__.pyi` lists them for type checkers; `python tools stub` writes it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import ep

if TYPE_CHECKING:
    from collections.abc import Sequence

SHARED: Final = {
    "Accuracy": "judging.accuracy",
    "Case": "cases.case",
    "Conditioned": "judging.accuracy",
    "Exact": "judging.accuracy",
    "Op": "elementwise.op",
    "Reference": "judging.reference",
    "Ulps": "judging.accuracy",
}


@ep.family_hook
def ep_families() -> Sequence[ep.Family]:
    """Return the families of this package."""
    return tuple(importlib.import_module("ep_primitives.families").families())


def __getattr__(name: str) -> Any:
    try:
        value = _value(name)
    except KeyError:
        message = f"module 'ep_primitives' has no attribute {name!r}"
        raise AttributeError(message) from None
    globals()[name] = value
    return value


def _value(name: str) -> Any:
    if name in SHARED:
        return getattr(importlib.import_module(f"ep_primitives.{SHARED[name]}"), name)
    if name.startswith("_") and name != "__all__":
        raise KeyError(name)
    families = importlib.import_module("ep_primitives.families")
    return sorted([*families.exports(), *SHARED, "ep_families"]) if name == "__all__" else families.exported(name)
