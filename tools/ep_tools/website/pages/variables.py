"""The EP_ variables of the environment: which the sources read, and what the rooms' READMEs say of each."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_tools.folders import ROOT
from ep_tools.website.directive import directive, fields

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Variable", "described", "page", "read"]

_NAME: Final = re.compile(r"EP_[A-Z][A-Z0-9_]*")
_ASKED: Final = re.compile(r"ENV\{(EP_\w+)\}|\$\{(EP_\w+)")
_QUOTED: Final = re.compile(r'"(EP_[A-Z][A-Z0-9_]*)"')
_LINE: Final = re.compile(r"\| `((EP_[A-Z][A-Z0-9_]*)[^`]*)` \| (.*) \|")
_HEAD: Final = "| variable | meaning |"
_PAGE: Final = """# Variables of the environment

Every variable that EP, its providers and its commands read. `ep doctor` prints those that are set. Most are read once a process:
set them before it starts.
"""


class Variable(NamedTuple):
    """What one README says of a variable: how it is written, and what that does."""

    name: str
    form: str
    meaning: str
    room: str


@cache
def read() -> dict[str, set[str]]:
    """Return the variables that the sources look up, and where: those named in a module that asks for its environment."""
    found: dict[str, set[str]] = {}
    for name, place in (*_of_python(), *_of_native()):
        found.setdefault(name, set()).add(place)
    for file in ("CMakeLists.txt", "tools/install/setup.sh"):
        for groups in _ASKED.findall((ROOT / file).read_text(encoding="utf-8")):
            found.setdefault("".join(groups), set()).add(file)
    return found


def _of_python() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.glob("*/**/*.py")):
        place = path.relative_to(ROOT)
        if {"tests", "build", "docs", "examples", ".venv"} & {*place.parts} or "website" in place.parts:
            continue
        text = path.read_text(encoding="utf-8")
        if "environ" in text:
            words = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
            yield from ((word, str(place)) for word in words if isinstance(word, str) and _NAME.fullmatch(word))


def _of_native() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.glob("providers/**/native/**/*.cpp")):
        text = path.read_text(encoding="utf-8")
        if "getenv" in text:
            yield from ((word, str(path.relative_to(ROOT))) for word in _QUOTED.findall(text))


def described() -> Iterator[Variable]:
    """Yield what the READMEs of the rooms say."""
    for path in sorted(
        [
            *ROOT.glob("*/README.md"),
            *ROOT.glob("providers/*/README.md"),
            *ROOT.glob("providers/*/emulator/README.md"),
            *ROOT.glob("frameworks/*/README.md"),
        ]
    ):
        _, _, rest = path.read_text(encoding="utf-8").partition(_HEAD)
        for line in rest.split("\n\n")[0].splitlines():
            if match := _LINE.fullmatch(line):
                yield Variable(match[2], match[1], match[3], path.parent.name)


def page() -> str:
    """Return the page."""
    lines = [_PAGE]
    where = read()
    said: dict[str, list[Variable]] = {}
    for variable in described():
        said.setdefault(variable.name, []).append(variable)
    for name, sayings in sorted(said.items()):
        text = [f"`{each.form}` ({each.room}): {each.meaning}\n" for each in sayings]
        facts = {"read by": ", ".join(f"`{place}`" for place in sorted(where.get(name, ())))}
        lines += directive("envvar", name, [*text, *fields(facts)])
    return "\n".join(lines)
