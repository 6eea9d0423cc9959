"""In what two values of headings differ, for errors."""

from __future__ import annotations

from typing import Any

__all__ = ["differing"]


def differing(one: Any, other: Any) -> tuple[Any, Any]:
    """Return two values, of two mappings only the entries that differ."""
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return one, other
    names = [name for name in one | other if one.get(name) != other.get(name)]
    first, second = ({name: each[name] for name in names if name in each} for each in (one, other))
    return first, second
