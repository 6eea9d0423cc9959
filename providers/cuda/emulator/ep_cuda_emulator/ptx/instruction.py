"""Statements of a function's body: declarations, labels, scopes and instructions with their operands."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_cuda_emulator.ptx.words import PtxError, Word, words

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Address",
    "Declaration",
    "Group",
    "Instruction",
    "Label",
    "Name",
    "Number",
    "Operand",
    "Scope",
    "statements",
]

_NUMBER: Final = re.compile(
    r"0[fF][0-9a-fA-F]{8}$|0[dD][0-9a-fA-F]{16}$|0[xX][0-9a-fA-F]+U?$|0[bB][01]+U?$|0[0-7]*U?$|[1-9]\d*U?$"
)
_DECIMAL: Final = re.compile(r"\d+(\.\d*([eE][-+]?\d+)?|[eE][-+]?\d+)$")


class Name(NamedTuple):
    """A register, a variable, a label or a function; of a predicate, perhaps its opposite."""

    text: str
    is_negated: bool = False


class Number(NamedTuple):
    """An immediate: an integer, or the bits of a float of 32 or 64 bits."""

    value: int
    bits: int = 0
    """0 if it is an integer."""


class Address(NamedTuple):
    """What stands in brackets: a register or variable, or none, and a distance in bytes."""

    base: str
    offset: int


class Group(NamedTuple):
    """Operands in braces, in parentheses, or beside each other with a bar: "{", "(" or "|"."""

    mark: str
    items: tuple[Operand, ...]


Operand = Name | Number | Address | Group


class Instruction(NamedTuple):
    """An opcode with its modifiers, such as ("setp", "lt", "f32"), and its operands.

    guard : the predicate under which it is executed; None if it always is
    """

    parts: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Name | None
    line: int

    @property
    def text(self) -> str:
        return ".".join(self.parts)


class Label(NamedTuple):
    """A place that branches name."""

    name: str
    line: int


class Scope(NamedTuple):
    """The beginning or the end of a block of statements, whose registers are its own."""

    is_open: bool
    line: int


class Declaration(NamedTuple):
    """A directive with its words, such as .reg, .shared, .local, .param or .branchtargets.

    label : the label in front of it; "" if there is none
    """

    words: tuple[str, ...]
    line: int
    label: str = ""


def statements(text: str, line: int) -> Iterator[Declaration | Label | Scope | Instruction]:
    """Yield the statements of a body, whose text begins after its brace, on a line. Raises PtxError."""
    pending: list[Word] = []
    depth = 0  # of braces within a statement: groups and initial values
    for word in words(text, line):
        if word.text == ";":
            if pending:
                yield _statement(pending)
            pending, depth = [], 0
        elif word.text in "{}" and not pending:
            yield Scope(word.text == "{", word.line)
        elif word.text == ":" and len(pending) == 1:
            yield Label(pending[0].text, word.line)
            pending = []
        else:
            depth += (word.text == "{") - (word.text == "}")
            if depth < 0:
                raise PtxError(word.line, "a statement has no end")
            pending.append(word)
            if pending[0].text in {".loc", ".file"} and word.line != pending[0].line:
                pending = [word]  # a directive that ends with its line
    if pending and pending[0].text not in {".loc", ".file"}:
        raise PtxError(pending[0].line, "a statement has no end")


def _statement(found: list[Word]) -> Declaration | Instruction:
    first = found[0]
    if first.text == ".loc":  # it ends with its line, not with a semicolon
        found = [word for word in found if word.line != first.line]
        first = found[0]
    if first.text.startswith("."):
        opening = tuple(f".{part}" for part in first.text[1:].split("."))  # .reg.b16 is .reg .b16
        return Declaration((*opening, *(word.text for word in found[1:])), first.line)
    reader = _Reader(found)
    guard = None
    if reader.take("@"):
        negated = reader.take("!")
        guard = Name(reader.next(), negated)
    opcode = reader.next()
    operands: list[Operand] = []
    while not reader.is_done:
        operands.append(reader.operand())
        if not reader.is_done:
            reader.expect(",")
    return Instruction(tuple(opcode.split(".")), tuple(operands), guard, first.line)


class _Reader:
    """Reads operands from words."""

    def __init__(self, found: list[Word]) -> None:
        self._words = found
        self._place = 0

    @property
    def is_done(self) -> bool:
        return self._place == len(self._words)

    @property
    def _peek(self) -> str:
        return "" if self.is_done else self._words[self._place].text

    def next(self) -> str:
        if self.is_done:
            raise PtxError(self._words[-1].line, "a statement ends too early")
        self._place += 1
        return self._words[self._place - 1].text

    def take(self, mark: str) -> bool:
        if self._peek != mark:
            return False
        self._place += 1
        return True

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise PtxError(
                self._words[self._place - 1].line, f"{self._peek or 'the end'!r} stands where {mark!r} is needed"
            )

    def operand(self) -> Operand:
        first = self._single()
        if self.take("|"):
            return Group("|", (first, self._single()))
        return first

    def _single(self) -> Operand:
        if self.take("["):
            return self._address()
        for mark, end in (("{", "}"), ("(", ")")):
            if self.take(mark):
                items: list[Operand] = []
                while not self.take(end):
                    items.append(self.operand())
                    self.take(",")
                return Group(mark, tuple(items))
        negated = self.take("!")
        sign = -1 if self.take("-") else 1
        word = self.next()
        if _NUMBER.match(word) or _DECIMAL.match(word):
            return _number(word, sign)
        if self.take("+"):
            return Address(word, _number(self.next(), 1).value)
        return Name(word, negated)

    def _address(self) -> Address:
        base, offset = "", 0
        while not self.take("]"):
            sign = -1 if self.take("-") else 1
            word = self.next()
            if word == "+":
                continue
            if _NUMBER.match(word):
                offset += _number(word, sign).value
            else:
                base = word
        return Address(base, offset)


def _number(word: str, sign: int) -> Number:
    kind = word[:2].lower()
    if kind in {"0f", "0d"}:
        bits = 32 if kind == "0f" else 64
        return Number(int(f"0x{word[2:]}", 0) ^ (sign < 0) << bits - 1, bits)
    if _DECIMAL.match(word):  # of 64 bits, whatever the instruction
        return Number(int.from_bytes(struct.pack("<d", sign * float(word)), "little"), 64)
    digits = word.rstrip("U")
    return Number(sign * int(digits, 8 if digits.isdigit() and digits[0] == "0" else 0))
