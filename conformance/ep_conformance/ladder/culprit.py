"""Find the provider's own function in a failure: in a traceback, the suite's summary of one, or a crash's stack."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from ep_conformance.ladder.contract import CONTRACTS, Function, find_function, shown_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["find_culprit"]

_PYTHON: Final = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+),? in (?P<name>\w+)')
_SUMMARY: Final = re.compile(r"(?P<file>\w+\.py):(?P<line>\d+) (?P<name>\w+)")
_ANSWER: Final = re.compile(r"\b(?P<kind>\w+)\.(?P<name>\w+) returned ")  # EP names who gave it what it cannot use
_LAST: Final = "most recent call last"


class _Frame(NamedTuple):
    file: Path
    line: int
    name: str


def find_culprit(reasons: Iterable[str], folder: Path) -> Function | None:
    """Return the function of a provider that most of these reasons pass through, None if none names one.

    reasons : the reasons of failing cases
    folder  : of the provider's package

    Of the frames in one reason the innermost function of the contract counts, such as `copy`; else the innermost frame.
    """
    found: Counter[Function] = Counter()
    for reason in reasons:
        functions = [_function(frame, folder) for frame in _frames(reason, folder)]
        asked = [function for function in functions if function.contract]
        if functions:
            found[(asked or functions)[0]] += 1
    return found.most_common(1)[0][0] if found else None


def _frames(reason: str, folder: Path) -> Iterator[_Frame]:
    """Yield the frames that lie in the provider's package, the innermost first."""
    for match in _SUMMARY.finditer(reason):
        for file in sorted(folder.rglob(match["file"])):
            if _enclosing(file, int(match["line"]), match["name"]) is not None:
                yield _Frame(file, int(match["line"]), match["name"])
    for match in _ANSWER.finditer(reason):
        for file in sorted(folder.rglob("*.py")):
            for kind, function in _methods(file, match["name"]):
                if kind.name == match["kind"]:
                    yield _Frame(file, function.lineno, match["name"])
    matches = [*_PYTHON.finditer(reason)]
    for match in reversed(matches) if _LAST in reason else matches:
        file = folder / match["file"]  # an absolute path replaces the folder
        if file.is_relative_to(folder) and file.is_file():
            yield _Frame(file, int(match["line"]), match["name"])


def _function(frame: _Frame, folder: Path) -> Function:
    place = f"{shown_path(frame.file, folder.name)}:{frame.line}"
    holder = _enclosing(frame.file, frame.line, frame.name)
    kind, bases = (holder.name, [ast.unparse(base).rpartition(".")[2] for base in holder.bases]) if holder else ("", [])
    name = f"{kind}.{frame.name}" if kind else frame.name
    # Devices and streams both have a `close`: the class, or the EP class that it inherits from, tells them apart.
    for owner, declared in sorted(CONTRACTS.items(), key=lambda item: item[0] not in bases):
        if kind and hasattr(declared, frame.name):
            asked = find_function(f"{owner}.{frame.name}", None)
            return Function(asked.contract, name, place, is_there=True, signature=asked.signature, asks=asked.asks)
    return Function("", name, place, is_there=True, signature="", asks="")


def _methods(file: Path, name: str) -> Iterator[tuple[ast.ClassDef, ast.FunctionDef]]:
    """Yield the methods of a name that a file has, each with its class."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return
    for kind in ast.walk(tree):
        if isinstance(kind, ast.ClassDef):
            yield from ((kind, node) for node in kind.body if isinstance(node, ast.FunctionDef) and node.name == name)


def _enclosing(file: Path, line: int, name: str) -> ast.ClassDef | Literal[False] | None:
    """Return the class of the function of a name that has a line of a file, False for one of no class, None for no such one."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return None
    holders: list[tuple[ast.ClassDef | Literal[False], list[ast.AST]]] = [
        (node, [*node.body]) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    ]
    for kind, body in [*holders, (False, [*ast.walk(tree)])]:
        for node in body:
            if (
                isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                and node.name == name
                and node.lineno <= line <= (node.end_lineno or line)
            ):
                return kind
    return False if name == "<module>" else None
