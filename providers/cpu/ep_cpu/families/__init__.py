"""The CPU's implementations, a file for each family, named as its native folder. They are found, not listed.

A file's `IMPLEMENTATIONS` maps descriptor types to implementations, best first.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import ep

__all__ = ["implementations"]


def implementations() -> Mapping[type[ep.Descriptor], tuple[ep.Implementation, ...]]:
    """Return the implementations of all files."""
    found: dict[type[ep.Descriptor], tuple[ep.Implementation, ...]] = {}
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        own = importlib.import_module(module.name).IMPLEMENTATIONS
        assert not found.keys() & own.keys(), f"two files have implementations of one descriptor, one is {module.name}"
        found |= own
    return found
