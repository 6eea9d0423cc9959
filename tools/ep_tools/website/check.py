"""What is wrong with a built site: what has no place in it, what is there and does not exist, dead links, requests to others."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any, Final

from ep_tools.website import contents
from ep_tools.website.document import Document, places, read_site
from ep_tools.website.inventory import Inventory, read_inventory
from ep_tools.website.pages import commands

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["dead_links", "misplaced", "missing", "problems", "requests", "unknown"]

_ELSEWHERE: Final = re.compile(r"(?:https?:)?//")
_FETCHED: Final = re.compile(
    r"""(?:@import\s*|url\(\s*|\bfetch\(\s*|importScripts\(\s*)["']?((?:https?:)?//[^"')\s]+)"""
)


def problems(site: Path) -> Iterator[str]:
    """Yield everything that is wrong with a site, a sentence each."""
    inventory, pages = read_inventory(site), read_site(site)
    yield from missing(inventory)
    yield from unknown(inventory)
    yield from misplaced(inventory, pages)
    yield from dead_links(pages)
    yield from requests(site, pages)


def missing(inventory: Inventory) -> Iterator[str]:
    """Yield what the code has and the site has not."""
    for kind, names in contents.closed().items():
        yield from (
            f"{kind} {name} has no place in the site" for name in sorted(names - inventory.get(kind, {}).keys())
        )
    for program in commands.PROGRAMS:
        for command in commands.commands(program):
            if "0" not in commands.exit_codes(command):
                yield f"the help of {command.name} does not end with its exit codes"
    documented = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    yield from (f"{name} has no place in the site" for name in sorted(contents.objects() - documented))


def unknown(inventory: Inventory) -> Iterator[str]:
    """Yield what the site has and the code has not."""
    for kind, names in contents.closed().items():
        yield from (
            f"the site has {kind} {name}, and the code has not"
            for name in sorted(inventory.get(kind, {}).keys() - names)
        )
    for kind, places_of in inventory.items():
        if kind.startswith("py:"):
            yield from (f"the site has {name}, which cannot be imported" for name in places_of if not _exists(name))


def misplaced(inventory: Inventory, pages: dict[str, Document]) -> Iterator[str]:
    """Yield the objects whose page or anchor is not there, or whose anchor is that of others, too."""
    taken: dict[str, set[str]] = {}
    for kind, names in inventory.items():
        for name, place in names.items():
            page, _, anchor = place.partition("#")
            if page not in pages or (anchor and pages[page].ids.count(anchor) != 1):
                yield f"{kind} {name}: {place} is not there, or twice"
            if kind in contents.closed():
                taken.setdefault(place, set()).add(f"{kind} {name}")
    for place, objects in taken.items():
        if len(objects) > 1 and not all(each.startswith("std:cmdoption") for each in objects):
            yield f"{place} is the place of {', '.join(sorted(objects))}"


def dead_links(pages: dict[str, Document]) -> Iterator[str]:
    """Yield the links within the site that lead nowhere."""
    for page, document in pages.items():
        for link, to, anchor in places(page, document):
            if to in pages and (not anchor or anchor in pages[to].anchors):
                continue
            yield f"{page}: the link {link} leads nowhere"


def requests(site: Path, pages: dict[str, Document]) -> Iterator[str]:
    """Yield what browsers would fetch from elsewhere while they show the site, or would not find."""
    for page, document in pages.items():
        for load in document.loads:
            if _ELSEWHERE.match(load):
                yield f"{page}: fetches {load}"
            elif not load.startswith("data:") and not (site / page).parent.joinpath(load.partition("?")[0]).exists():
                yield f"{page}: fetches {load}, which is not there"
    for path in [*site.glob("**/*.css"), *site.glob("**/*.js")]:
        for address in _FETCHED.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)}: fetches {address}"


def _exists(name: str) -> bool:
    """Say whether a dotted name of Python can be reached."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        return _has(thing, parts[length:])
    return False


def _has(thing: Any, parts: list[str]) -> bool:
    for part in parts:
        if not hasattr(thing, part):
            return part in getattr(thing, "__annotations__", {})
        thing = getattr(thing, part)
    return True
