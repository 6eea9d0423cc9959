"""A built page as a browser takes it: its anchors, its links, and what it loads."""

from __future__ import annotations

from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Document", "read_site"]


class Document(HTMLParser):
    """What stands in the tags of one page.

    ids    : the anchors, each as often as it stands there
    links  : what readers may follow
    loads  : what the browser fetches by itself: scripts, styles, pictures, fonts
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Iterable[tuple[str, str | None]]) -> None:
        """Take note of a tag."""
        values = {name: value for name, value in attrs if value}
        self.ids += [values["id"]] if "id" in values else []
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel", "") not in {"next", "prev", "index", "search", "canonical", "author"}:
            self.loads.append(values.get("href", ""))
        self.loads += [values["src"]] if "src" in values else []

    @cached_property
    def anchors(self) -> frozenset[str]:
        """The anchors, each once."""
        return frozenset(self.ids)


def read_site(site: Path) -> dict[str, Document]:
    """Return every page of a site by its path in it."""
    return {
        path.relative_to(site).as_posix(): Document(path.read_text(encoding="utf-8"))
        for path in sorted(site.glob("**/*.html"))
    }


def places(page: str, document: Document) -> Iterator[tuple[str, str, str]]:
    """Yield each link of a page to a place in the same site: as it is written, the page and the anchor."""
    for link in document.links:
        if "://" in link or link.startswith(("mailto:", "data:")):
            continue
        file, _, anchor = unquote(link).partition("#")
        parts: list[str] = []
        for part in (Path(page).parent / file).parts if file else Path(page).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        yield link, "/".join(parts), anchor
