"""The tree that Sphinx builds: the documents of the repository and the pages made from the code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ep_tools.folders import ROOT
from ep_tools.website.pages import (
    abilities,
    cases,
    commands,
    dtypes,
    errors,
    families,
    interface,
    plugin,
    report,
    saboteurs,
    variables,
    verdicts,
)
from ep_tools.website.places import documents, pictures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["pages", "write"]


_FILLED: Final = {"docs/families/README.md": families.contents, "docs/api/operations.md": families.described}
"""What fills in the documents of which the code has a part."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path of each page in the tree, and of each drawing, and its text."""
    own = {f"families/{name}": family for name, family in families.own().items()}
    for path, page, text in documents():
        if page in own:
            yield f"{page}.md", families.page(own[page], text)
        else:
            yield f"{page}.md", _FILLED.get(path, _present)(text)
    for path, place in pictures().items():
        yield place, (ROOT / path).read_text(encoding="utf-8")
    for program in commands.PROGRAMS:
        yield f"commands/{program}.md", commands.page(program)
    for area, found in cases.areas().items():
        yield f"cases/{area}.md", cases.page(area, found)
    yield "reference/rows.md", families.index()
    yield "reference/dtypes.md", dtypes.page()
    yield "reference/verdicts.md", verdicts.page()
    yield "reference/variables.md", variables.page()
    yield "reference/errors.rst", errors.page()
    yield "vendors/interface.rst", interface.page()
    yield "vendors/abilities.md", abilities.page()
    yield "conformance/pytest.md", plugin.page()
    yield "conformance/report.md", report.page()
    yield "conformance/saboteurs.md", saboteurs.page()


def _present(text: str) -> str:
    """Leave out of a table of contents what an installation without some document has not: names that end in a star."""
    return re.sub(
        r"^([\w-]+)\*\n", lambda line: line[0] * any((ROOT / "docs").glob(f"{line[1]}*.md")), text, flags=re.MULTILINE
    )


def write(folder: Path) -> None:
    """Write the tree: what has not changed stays as it is, so that Sphinx does not read it again; what is gone is removed."""
    made = {folder / path: text for path, text in pages()}
    for path, text in made.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in [*folder.glob("**/*.md"), *folder.glob("**/*.rst")]:
        if path not in made:
            path.unlink()
