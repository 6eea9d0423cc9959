"""The page of the pytest plugin: its options and fixtures."""

from __future__ import annotations

import ast
import inspect
from typing import Any, Final

from ep_conformance import pytest_plugin

from ep_tools.markdown import escaped
from ep_tools.website.directive import directive, fields

__all__ = ["PROGRAM", "fixtures", "options", "page"]

PROGRAM: Final = "pytest"

_HEAD: Final = """# The pytest plugin

{lead} It is installed with EP, by the entry-point group {{group}}`pytest11`; [](/rooms/conformance.md) has examples.

## Options

```{{program}} {program}
```
"""


class _Options:
    """Takes the place of pytest's parser and its groups: keeps what it is told."""

    def __init__(self) -> None:
        self.told: dict[str, dict[str, Any]] = {}

    def getgroup(self, *_: str) -> _Options:
        return self

    def addoption(self, name: str, **facts: Any) -> None:
        self.told[name] = facts


def options() -> dict[str, dict[str, Any]]:
    """Return the options that the plugin adds, and what pytest is told of each."""
    parser: Any = _Options()
    pytest_plugin.pytest_addoption(parser)
    told: dict[str, dict[str, Any]] = parser.told
    return told


def fixtures() -> dict[str, str]:
    """Return the fixtures of the plugin and their docstrings."""
    tree = ast.parse(inspect.getsource(pytest_plugin))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    marked = (node for node in functions if any("fixture" in ast.unparse(mark) for mark in node.decorator_list))
    return {node.name: ast.get_docstring(node) or "" for node in marked}


def page() -> str:
    """Return the page."""
    lead, *_ = (pytest_plugin.__doc__ or "").split("\n\n")
    lines = [_HEAD.format(lead=lead.removeprefix("The pytest plugin: ").strip(), program=PROGRAM)]
    for name, facts in options().items():
        takes = facts.get("metavar", "CHOICE")
        values = ", ".join(f"`{choice}`" for choice in facts.get("choices", ()))
        lines += directive("option", f"{name} {takes}", [escaped(facts["help"]), *fields({"values": values})])
    lines.append("## Fixtures\n")
    for name, doc in fixtures().items():
        lines += directive("fixture", name, [escaped(" ".join(doc.split()))])
    return "\n".join(lines)
