"""The page of a family: its document in docs/families, with an entry a row in place of the table of rows."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from ep_primitives.judging.edges import edge_rules

import ep
from ep_tools.documents.families import ROOM
from ep_tools.markdown import escaped, table
from ep_tools.website.directive import directive
from ep_tools.website.pages import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["contents", "described", "index", "own", "page"]

_ROWS: Final = "## Rows\n"
_GROUPS: Final = "Groups of element types, *floats* and the like, are those of [all families](/families/index.md).\n"
_EVERY: Final = "all families"
_HEAD: Final = """# All rows

Every op of every family of EP, and what it promises of float32, or of its first element type. An op's name leads to all that its
row says: element types, domain, special values, attributes, source. What is said here is what the suite judges by.
"""


def own() -> dict[str, ep.Family]:
    """Return the families that EP itself brings, by name: those of examples may be installed, too."""
    return {name: each for name, each in ep.families().items() if each.descriptor.__module__.startswith(f"{ROOM}.")}


def page(family: ep.Family, document: str) -> str:
    """Return the page, made of what `make documents` wrote."""
    head, _, _ = document.partition(_ROWS)
    title, _, rest = head.partition("\n")
    kind = family.descriptor.__name__
    lines = [title, "", *directive("family", family.name, [f"Descriptor {{py:class}}`ep_primitives.{kind}`."]), rest]
    lines += ["## Edge rules\n", *_edges(family.name)]
    if rows.rows_of(family):
        lines += [f"\n{_ROWS}", _GROUPS, *rows.entries(family)]
    return "\n".join(lines)


def contents(document: str) -> str:
    """Return the index of the families with the order of their pages, for the navigation."""
    return "\n".join([document, "```{toctree}\n:hidden:\n:titlesonly:\n", *own(), "```\n"])


def described(document: str) -> str:
    """Return the page of the descriptors, with an entry for each family's and for each table of rows."""
    kinds = [f".. autoclass:: ep_primitives.{each.descriptor.__name__}\n   :members: infer" for each in own().values()]
    tables = [
        f".. py:data:: {name}\n\n   The rows of :py:class:`~ep_primitives.{each.descriptor.__name__}` by name: :doc:`/families/{each.name}`.\n"
        for each in own().values()
        for name in importlib.import_module(each.descriptor.__module__.rpartition(".")[0]).__all__
        if name.isupper()
    ]
    return document.replace("<!-- descriptors -->", "\n".join(kinds)).replace("<!-- rows -->", "\n".join(tables))


def _edges(family: str) -> Iterator[str]:
    """Yield the edge rules that cases of the family prove, or that hold for all."""
    lines = []
    for rule in edge_rules():
        proof = [case for case in rule.cases if case.split("/")[1] == family]
        if proof or rule.where == _EVERY:
            lines.append((rule.edge, rule.where, rule.result, ", ".join(f"`{case}`" for case in proof) or "-"))
    yield from table(("edge", "where", "what happens", "proven here by"), lines)


def index() -> str:
    """Return the page of all rows in one table."""
    lines = [_HEAD]
    for name, family in own().items():
        cells = {cell.op: cell for cell in reversed([*family.cells()])}
        cells |= {cell.op: cell for cell in family.cells() if cell.dtypes == "float32" and cell.layout == "dense"}
        said = [_line(family, cells[op], row) for op, row in rows.rows_of(family).items()]
        if said:
            lines += [f"## {family.descriptor.__name__}\n", f"Family {{family}}`{name}`, {len(said)} rows.\n"]
            lines += [*table(("op", "definition", "accuracy", "in"), said), ""]
    return "\n".join(lines)


def _line(family: ep.Family, cell: ep.Cell, row: Any) -> tuple[str, ...]:
    link = f"{{row}}`{cell.op} <{family.name}/{cell.op}>`"
    return link, escaped(row.definition), str(family.accuracy(family.sample(cell))), cell.dtypes
