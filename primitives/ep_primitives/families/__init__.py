"""The families, a folder each: meaning, rows, reference, cases. They are found, not listed.

A folder's `__init__` exports the descriptors and tables of rows that users name. Its `family`, or `descriptor` where the family is
short, holds one subclass of `ep.Family` for each family in it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import ep

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["exported", "exports", "families", "folders", "parts"]


def families() -> Iterator[ep.Family]:
    """Yield an instance of each family, folder by folder."""
    for folder in folders():
        name = f"{folder}.family"
        module = importlib.import_module(name if find_spec(name) is not None else f"{folder}.descriptor")
        for kind in vars(module).values():
            if _is_own(kind, module):
                yield kind()


def exported(name: str) -> Any:
    """Return the object that a folder exports under a name. Raises KeyError if none does.

    A descriptor's folder has its name as a rule, and is looked at first, so that a program does not load all of them.
    """
    likely = f"{__name__}.{re.sub(r'(?<!^)(?=[A-Z])', '_', name).lower()}"
    module = importlib.import_module(likely) if likely in folders() else None
    return getattr(module, name) if name in getattr(module, "__all__", ()) else exports()[name]


@cache
def exports() -> dict[str, Any]:
    """Return the folders' exports, by name."""
    found: dict[str, Any] = {}
    for folder in folders():
        module = importlib.import_module(folder)
        found |= {name: getattr(module, name) for name in module.__all__}
    return found


def parts(name: str) -> list[Any]:
    """Return the modules of a name, such as `edges` or `calls`, of the folders that have one."""
    names = [f"{folder}.{name}" for folder in folders()]
    return [importlib.import_module(each) for each in names if find_spec(each) is not None]


@cache
def folders() -> list[str]:
    """Return the modules of the folders."""
    return [module.name for module in pkgutil.iter_modules(__path__, f"{__name__}.") if module.ispkg]


def _is_own(kind: Any, module: ModuleType) -> bool:
    """Say whether a module's value is a family of its own, and no base of others."""
    return (
        isinstance(kind, type)
        and issubclass(kind, ep.Family)
        and kind.__module__ == module.__name__
        and "name" in vars(kind)
    )
