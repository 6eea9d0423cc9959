"""What Sphinx knows of EP: its kinds of objects, how its docstrings read, where names in signatures lead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sphinx import addnodes

import ep
from ep_tools.website.docstrings import restructured
from ep_tools.website.references import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["KINDS", "setup"]

KINDS: Final[Mapping[str, str]] = {
    "family": "families",
    "row": "rows",
    "dtype": "element types",
    "layout": "layouts",
    "status": "statuses",
    "standing": "standings",
    "profile": "profiles",
    "ability": "abilities",
    "case": "runtime cases",
    "saboteur": "saboteurs",
    "field": "fields of a report",
    "command": "commands",
    "hook": "hooks",
    "fixture": "fixtures of pytest",
    "group": "entry-point groups",
}
"""The kinds of objects that Sphinx has no name for, and under what the index has them."""


def setup(app: Sphinx) -> Mapping[str, Any]:
    """Tell Sphinx."""
    for kind, index in KINDS.items():
        app.add_object_type(kind, kind, f"single: {index}; %s", parse_node=_shown)
    app.connect("autodoc-process-docstring", _docstring)
    app.connect("autodoc-skip-member", _skips)
    app.connect("doctree-read", _qualify)
    app.connect("missing-reference", resolve)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _shown(_: BuildEnvironment, signature: str, node: Any) -> str:
    """Show the last part of a name, with those before it less loud."""
    head, slash, name = signature.rpartition("/")
    if slash:
        node += addnodes.desc_addname(head + slash, head + slash)
    node += addnodes.desc_name(name, name)
    return signature


def _qualify(_: Sphinx, doctree: nodes.document) -> None:
    """Let a bare name that two packages have mean that of the package it stands in: `Device` is the provider's in ep.spi alone."""
    for node in doctree.findall(addnodes.pending_xref):
        name = node.get("reftarget", "")
        if node.get("refdomain") == "py" and name in ep.spi.__all__:
            place = f"{node.get('py:module')}.{node.get('py:class')}".split(".")
            node["reftarget"] = f"ep.spi.{name}" if "spi" in place or not hasattr(ep, name) else f"ep.{name}"


def _docstring(_: Sphinx, __: str, ___: str, ____: Any, _____: Any, lines: list[str]) -> None:
    lines[:] = "\n".join(restructured(lines)).split("\n")


def _skips(_: Sphinx, __: str, ___: str, member: Any, *____: Any) -> bool | None:
    """Leave out the fields of named tuples, whose docstrings Python writes: the class describes them."""
    return True if str(getattr(member, "__doc__", "")).startswith("Alias for field number") else None
