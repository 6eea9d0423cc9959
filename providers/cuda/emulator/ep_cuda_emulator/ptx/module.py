"""A program: its variables, and its functions with bodies that are read later."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ep_cuda_emulator.ptx.words import PtxError, Word, words

__all__ = ["BYTES", "Function", "Module", "Parameter", "Variable", "declared"]

BYTES: Final = {
    **{f"{kind}{bits}": bits // 8 for kind in "bsu" for bits in (8, 16, 32, 64)},
    "b128": 16,
    "f16": 2,
    "bf16": 2,
    "f16x2": 4,
    "bf16x2": 4,
    "f32": 4,
    "f64": 8,
    "pred": 1,
}
"""Bytes of each type."""

_BRACE: Final = re.compile(r'[{}]|//[^\n]*|/\*.*?\*/|"[^"]*"', re.DOTALL)
_LINKING: Final = {".visible", ".extern", ".weak", ".common"}
_SPACES: Final = {".global", ".const", ".shared", ".local", ".param", ".tex"}


@dataclass(frozen=True)
class Variable:
    """A declared variable. `count` is None for an array without a length: dynamic shared memory.

    words : its initial value: words as they stand, numbers or names
    """

    name: str
    space: str
    type: str
    align: int
    count: int | None
    words: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        return BYTES[self.type] * (self.count or 0)


@dataclass(frozen=True)
class Parameter:
    """A parameter and its place among all, in bytes."""

    name: str
    offset: int
    nbytes: int
    align: int


@dataclass(frozen=True)
class Function:
    """An entry or a device function; `body` is "" where it is only declared.

    line : where the body begins
    most : threads of a block, as .maxntid or .reqntid say; 0 if nothing is said
    """

    name: str
    is_entry: bool
    parameters: tuple[Parameter, ...]
    results: tuple[Parameter, ...]
    most: int
    body: str
    line: int


@dataclass
class Module:
    """A program as its text declares it. Raises PtxError if it is none."""

    text: str
    target: str = ""
    variables: dict[str, Variable] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)

    def __post_init__(self) -> None:
        outside, bodies = _parted(self.text)
        found = [*words(outside), Word("", 0)]
        place = 0
        while found[place].text:
            place = self._declare(found, place, bodies)
        if not self.target:
            raise PtxError(1, "the program names no .target")

    def _declare(self, found: list[Word], place: int, bodies: dict[int, tuple[str, int]]) -> int:
        start = place
        while found[place].text in _LINKING:
            place += 1
        word = found[place]
        if word.text in {".version", ".address_size", ".target", ".file", ".section", ".pragma", ".alias"}:
            end = place + 1
            while found[end].text and found[end].line == word.line:
                end += 1
            if word.text == ".target":
                self.target = found[place + 1].text
            return end
        if word.text in {".entry", ".func"}:
            return self._function(found, place, bodies)
        if word.text in _SPACES:
            end = place
            while found[end].text not in {";", ""}:
                end += 1
            variable = declared(tuple(each.text for each in found[place:end]), word.line)
            self.variables[variable.name] = variable
            return end + 1
        if word.text.startswith("\0"):  # a body without a function, such as a section's
            return place + 1
        raise PtxError(found[start].line, f"{word.text} is no declaration that is emulated", is_supported=False)

    def _function(self, found: list[Word], place: int, bodies: dict[int, tuple[str, int]]) -> int:
        is_entry = found[place].text == ".entry"
        place += 1
        results: tuple[Parameter, ...] = ()
        if found[place].text == "(":
            results, place = _parameters(found, place)
        name = found[place].text
        place += 1
        parameters: tuple[Parameter, ...] = ()
        if found[place].text == "(":
            parameters, place = _parameters(found, place)
        most, body, line = 0, "", found[place].line
        while found[place].text:
            word = found[place].text
            if word == ";":
                place += 1
                break
            if word == "{":
                body, line = bodies[int(found[place + 1].text)]
                place += 3
                break
            if word in {".maxntid", ".reqntid"}:
                most, after = 1, place + 1
                while found[after].text.isdigit() or found[after].text == ",":
                    most *= int(found[after].text) if found[after].text.isdigit() else 1
                    after += 1
            place += 1
        if body or name not in self.functions:
            self.functions[name] = Function(name, is_entry, parameters, results, most, body, line)
        return place


def declared(found: tuple[str, ...], line: int) -> Variable:
    """Return the variable of a declaration's words. Raises PtxError."""
    rest = list(found)
    space = rest.pop(0).removeprefix(".")
    align, kind = 0, ""
    initial: tuple[str, ...] = ()
    if "=" in rest:
        split = rest.index("=")
        rest, initial = rest[:split], tuple(rest[split + 1 :])
    count: int | None = 1
    while rest and rest[0].startswith("."):
        word = rest.pop(0).removeprefix(".")
        if word == "align":
            align = int(rest.pop(0))
        elif word in BYTES:
            kind = word
    if not rest or not kind:
        raise PtxError(line, f"{' '.join(found)} declares nothing")
    name = rest.pop(0)
    while rest and rest[0] == "[":
        if rest[1] == "]":
            count = None
            rest = rest[2:]
        else:
            count = (count or 1) * int(rest[1].rstrip("U"), 0)
            rest = rest[3:]
    return Variable(name, space, kind, align or BYTES[kind], count, initial)


def _parameters(found: list[Word], place: int) -> tuple[tuple[Parameter, ...], int]:
    made: list[Parameter] = []
    offset = 0
    current: list[str] = []
    place += 1
    while True:
        word = found[place]
        place += 1
        if word.text in {",", ")"}:
            if current:
                variable = declared(tuple(each for each in current if each not in {".ptr", ".global"}), word.line)
                offset = -(-offset // variable.align) * variable.align
                made.append(Parameter(variable.name, offset, variable.nbytes, variable.align))
                offset += variable.nbytes
            current = []
            if word.text == ")":
                return tuple(made), place
        elif not word.text:
            raise PtxError(found[place - 2].line, "a list of parameters has no end")
        elif word.text == ".ptr":  # .ptr .space .align N: hints about what it points to
            place = _after_hints(found, place)
        else:
            current.append(word.text)


def _after_hints(found: list[Word], place: int) -> int:
    if found[place].text in {".const", ".global", ".local", ".shared"}:
        place += 1
    if found[place].text == ".align":
        place += 2
    return place


def _parted(text: str) -> tuple[str, dict[int, tuple[str, int]]]:
    """Part a program into its declarations, where each body is a number in braces, and the bodies with their lines."""
    outside: list[str] = []
    bodies: dict[int, tuple[str, int]] = {}
    depth = start = after = 0
    for found in _BRACE.finditer(text):
        mark = found.group()
        if mark == "{":
            if depth == 0:
                start = found.end()
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                head = text[after : start - 1]
                if head.rstrip().endswith("="):  # the initial value of a variable
                    outside.append(text[after : found.end()])
                else:
                    number = len(bodies)
                    line = text.count("\n", 0, start) + 1
                    bodies[number] = (text[start : found.start()], line)
                    lines = "\n" * text.count("\n", start, found.end())
                    outside.append(f"{head}{{ {number} }}{lines}")
                after = found.end()
    if depth:
        raise PtxError(text.count("\n") + 1, "a brace is not closed")
    outside.append(text[after:])
    return "".join(outside), bodies
