"""The vendor kit: a package of a vendor's own, made from the templates beside this file.

`package/` holds what every style has; a style's folder adds its own files, or files in their place. `NAME` in a path and
the words in braces in a text become the vendor's.
"""

from __future__ import annotations

import importlib.util
import keyword
import re
from pathlib import Path
from typing import Final

from ep.plugin.manifest import SPI

import ep
from ep_conformance import SUITE

__all__ = ["STYLES", "check_name", "render", "write"]

STYLES: Final = ("python", "native", "simt")

_FORM: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\Z")
_LONGEST: Final = 40
_SUFFIX: Final = ".jinja"


def check_name(name: str) -> None:
    """Raise ValueError, with what to write in its place, for a name that a new provider cannot have."""
    if _FORM.match(name) is None or keyword.iskeyword(name) or len(name) > _LONGEST:
        message = (
            f"{name!r} cannot name a provider: it becomes part of an import package; give a lower-case word of letters, "
            f"digits and single underscores, at most {_LONGEST} of them and no keyword of Python, such as acme"
        )
        raise ValueError(message)
    known = ep.providers()
    if name in known:
        message = f"a provider {name} is installed already, by {known[name].distribution}; take another name"
        raise ValueError(message)
    if importlib.util.find_spec(f"ep_{name}") is not None:
        message = f"a package ep_{name} is installed already, and the new one would hide it; take another name"
        raise ValueError(message)


def render(name: str, style: str) -> dict[str, str]:
    """Return the texts of a new package by their paths in its folder, in the order of the paths."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - loaded only where a package is made

    environment = Environment(  # noqa: S701 - these are programs, not HTML
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, keep_trailing_newline=True
    )
    chosen: dict[str, str] = {}
    for part in ("package", style):
        for template in environment.list_templates(extensions=[_SUFFIX[1:]]):
            if template.startswith(f"{part}/"):
                chosen[template.removeprefix(f"{part}/").removesuffix(_SUFFIX)] = template
    words = _words(name)
    return {path.replace("NAME", name): environment.get_template(chosen[path]).render(words) for path in sorted(chosen)}


def write(folder: Path, texts: dict[str, str]) -> None:
    """Make a folder and write the files into it: all of them, or none.

    Raises FileExistsError if one of them exists, another OSError for one that cannot be written.
    """
    there = [path for path in texts if (folder / path).exists()]
    if there:
        message = f"{folder} has {', '.join(there)} already, and nothing is overwritten; give another --folder"
        raise FileExistsError(message)
    written: list[Path] = []
    try:
        for path, text in texts.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8") as file:
                written.append(target)
                file.write(text)
    except OSError:
        for target in written:
            target.unlink()
        raise


def _words(name: str) -> dict[str, str]:
    title = name.replace("_", " ").title()
    return {
        "name": name,
        "package": f"ep_{name}",
        "distribution": f"ep-{name.replace('_', '-')}",
        "title": title,
        "Name": title.replace(" ", ""),
        "spi": ".".join(map(str, SPI)),
        "suite": SUITE,
    }
