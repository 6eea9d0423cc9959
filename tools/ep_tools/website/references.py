"""Names in signatures, which are written as the sources write them, led to the pages of what they name."""

from __future__ import annotations

import ast
import builtins
import collections.abc
import types
import typing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ep_tools.website.packages import PACKAGES, public

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils import nodes
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["resolve"]

_STANDARD: Final = (builtins, typing, collections.abc, types)


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.TextElement) -> Any:
    """Return what a name in a signature leads to: its page, plain text for what is private or foreign, None if it is unknown."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    head, _, name = target.rpartition(".")
    if not head and (full := public(name)):
        return env.domains.python_domain.resolve_xref(env, node["refdoc"], app.builder, "obj", full, node, contnode)
    is_foreign = bool(head) and head.partition(".")[0] not in {package.__name__ for package in PACKAGES}
    is_standard = not head and any(hasattr(module, name) for module in _STANDARD)
    return contnode if is_foreign or is_standard or name in _private() else None


@cache
def _private() -> frozenset[str]:
    """Return the names that modules of ours define, fields of classes with them, or import for annotations, without making them public."""
    found: set[str] = set()
    for package in PACKAGES:
        for path in Path(str(package.__file__)).parent.glob("**/*.py"):
            for statement in _outer(ast.parse(path.read_text(encoding="utf-8")).body):
                if isinstance(statement, ast.Assign):
                    found |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
                elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    found.add(statement.target.id)
                elif isinstance(statement, ast.ImportFrom):
                    found |= {alias.asname or alias.name for alias in statement.names}
                elif isinstance(statement, ast.ClassDef):
                    found.add(statement.name)
    return frozenset(found)


def _outer(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, and those in its conditions and classes: all but those of functions."""
    for statement in statements:
        yield statement
        if isinstance(statement, ast.If | ast.ClassDef):
            yield from _outer(statement.body)
