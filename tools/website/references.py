"""Names in signatures, which are written as the sources write them, led to the pages of what they name."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import importlib
import inspect
import pkgutil
import types
import typing
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import ep_primitives

import ep

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["resolve"]

_PUBLIC: Final = (ep, ep_primitives)
_STANDARD: Final = (builtins, typing, collections.abc, types)


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.TextElement) -> Any:
    """Return what a name in a signature leads to: its page, plain text for what is private or foreign, None if it is unknown."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    head, _, name = target.rpartition(".")
    for package in _PUBLIC:
        if not head and name in package.__all__:
            full = f"{package.__name__}.{name}"
            return env.domains.python_domain.resolve_xref(env, node["refdoc"], app.builder, "obj", full, node, contnode)
    is_foreign = bool(head) and head.partition(".")[0] not in {package.__name__ for package in _PUBLIC}
    is_standard = not head and any(hasattr(module, name) for module in _STANDARD)
    return contnode if is_foreign or is_standard or name in _private() else None


@cache
def _private() -> frozenset[str]:
    """Return the names that modules of ours define, or import for their annotations, without making them public."""
    found: set[str] = set()
    for package in _PUBLIC:
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for node in ast.walk(ast.parse(inspect.getsource(importlib.import_module(module.name)))):
                if isinstance(node, ast.Assign):
                    found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
                elif isinstance(node, ast.ImportFrom):
                    found |= {alias.asname or alias.name for alias in node.names}
                elif isinstance(node, ast.ClassDef):
                    found.add(node.name)
    return frozenset(found)
