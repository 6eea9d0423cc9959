"""Where the documents of the repository have their pages, and their links rewritten to lead there."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final

from ep_tools.folders import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["documents", "linked", "pictures", "places"]


_ROOMS: Final = ("ep", "primitives", "collectives", "sharded", "conformance", "benchmarks", "examples", "docs", "tools")
_MANY: Final = ("providers", "frameworks", "examples")
"""Folders of rooms."""
_LINK: Final = re.compile(r"(```.*?```|`[^`\n]+`)|(!?)\[((?:[^][]|\[[^][]*\])*)\]\(([^()\s]+)\)", re.DOTALL)


def places() -> dict[str, str]:
    """Return for each Markdown document of the repository, by its path, the page that it is, without suffix."""
    found = {"README.md": "overview", "CHANGELOG.md": "changelog"}
    for path in sorted({*(ROOT / "docs").glob("**/*.md")} - {ROOT / "docs" / "DESIGN.md"}):
        page = path.relative_to(ROOT / "docs").with_suffix("").as_posix()
        found[f"docs/{page}.md"] = f"{page.removesuffix('README')}index" if path.name == "README.md" else page
    for path in sorted(
        [
            *(ROOT / room for room in _ROOMS),
            *(path for many in _MANY for path in (ROOT / many).iterdir()),
        ]
    ):
        room = path.relative_to(ROOT).as_posix()
        for name, folder in (("README", "rooms"), ("DESIGN", "design")):
            if (path / f"{name}.md").exists():
                found[f"{room}/{name}.md"] = f"{folder}/{path.name}"
    return found


def pictures() -> dict[str, str]:
    """Return for each drawing in docs/, by its path in the repository, its path in the site's tree."""
    return {f"docs/{path.name}": path.name for path in (ROOT / "docs").glob("*.svg")}


def linked(text: str, path: str, known: Mapping[str, str]) -> str:
    """Return a document with its links led to pages, and its drawings; a link to a file that has no page becomes its words.

    path : of the document in the repository
    Raises ValueError for a link to what is not in the repository.
    """

    def lead(match: re.Match[str]) -> str:
        code, mark, words, target = match.groups()
        if code is not None or re.match(r"[a-z]+:", target) or target.startswith(("#", "/")):
            return match[0]
        file, _, anchor = target.partition("#")
        to = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        if to in known:
            return f"{mark}[{words}](/{known[to]}.md{'#' * bool(anchor)}{anchor})"
        if not (ROOT / to).exists():
            message = f"{path}: the link to {target} leads nowhere; the repository has no {to}"
            raise ValueError(message)
        if mark and to in pictures():
            return f"![{words}](/{pictures()[to]})"
        return words

    return _LINK.sub(lead, text)


def documents() -> Iterator[tuple[str, str, str]]:
    """Yield each document's path, page and text with its links rewritten."""
    known = places()
    for path, page in known.items():
        yield path, page, linked((ROOT / path).read_text(encoding="utf-8"), path, known)
