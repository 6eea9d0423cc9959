"""Addresses that grow evenly from one thread of a row to the next, and the statements that compute them.

A row is the threads of a block that differ in `tid.x` alone.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_cuda_emulator.lowering import memory
from ep_cuda_emulator.lowering.rules import types_of
from ep_cuda_emulator.ptx.instruction import (
    Address,
    Declaration,
    Group,
    Instruction,
    Label,
    Name,
    Number,
    Operand,
    Scope,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Rows", "rows_of"]

_MOST_ACCESSES: Final = 64
_LARGEST_STRIDE: Final = 1 << 20  # 1024 threads of it span less than half of 32 bits, so that a sum wraps once at most
_ANYWHERE: Final = frozenset({"bra", "ret", "exit"})
_OF_EQUALS: Final = frozenset(
    {
        *("add", "and", "bfe", "bfi", "clz", "cnot", "cvt", "div", "lop3", "mad", "max", "min", "mov", "mul", "neg"),
        *("not", "or", "prmt", "rem", "selp", "setp", "shf", "shl", "shr", "sub", "xor"),
    }
)
"""Opcodes whose result is the same for all threads of a row if their operands are."""


class Rows(NamedTuple):
    """What is known of an entry whose accesses of global memory all grow evenly.

    strides : of each access, the bytes from one thread's address to the next one's
    slice   : places of the statements that compute the addresses
    """

    strides: dict[Instruction, int]
    slice: frozenset[int]

    def pointers(self) -> list[str]:
        """Return the arguments of the loop's body: a pointer to the first thread's bytes for each access."""
        return [f"ptr %first.{place}" for place in range(len(self.strides))]

    def first_pointers(self) -> dict[Instruction, tuple[str, int]]:
        """Return, of each access, the name of its argument, and the stride."""
        return {i: (f"%first.{place}", stride) for place, (i, stride) in enumerate(self.strides.items())}


class _Value(NamedTuple):
    """A register as a function of `tid.x`.

    step     : what each thread adds, modulo the register's size
    has_seam : True if 32 bits of a value that grows became 64: it may jump by a multiple of 2 to the 32nd, once
    """

    step: int
    has_seam: bool = False


_EQUAL: Final = _Value(0)


def rows_of(found: Sequence[Declaration | Label | Scope | Instruction]) -> Rows | None:
    """Return what is known of an entry's statements; None if it loops, calls, or has an access that does not grow evenly."""
    if _loops(found):
        return None
    return _Reader(found).rows()


def _loops(found: Sequence[Declaration | Label | Scope | Instruction]) -> bool:
    passed: set[str] = set()
    for each in found:
        if isinstance(each, Label):
            passed.add(each.name)
        elif isinstance(each, Instruction) and each.parts[0] == "bra" and not passed.isdisjoint(_names(each.operands)):
            return True
    return False


class _Reader:
    """Reads an entry from its beginning to its end, and keeps what is known of each register that is written once."""

    def __init__(self, found: Sequence[Declaration | Label | Scope | Instruction]) -> None:
        self._found = found
        self._values: dict[str, _Value] = {}
        self._places: dict[str, int] = {}  # of the statement that writes a register
        written = Counter(name for each in found if isinstance(each, Instruction) for name in _results(each))
        self._once = {name for name, count in written.items() if count == 1}

    def rows(self) -> Rows | None:
        strides: dict[Instruction, int] = {}
        bases: set[str] = set()
        for place, i in enumerate(self._found):
            if not isinstance(i, Instruction):
                continue
            if i.parts[0] in {"ld", "ldu", "st"} and memory.space_of(i) not in {"param", "local"}:
                address = i.operands[0 if i.parts[0] == "st" else 1]
                stride = self._stride(i, address)
                if stride is None or not isinstance(address, Address):
                    return None
                strides[i] = stride
                bases.add(address.base)
            elif i.parts[0] in {"call", "brx", "cp"}:
                return None
            else:
                self._take(i, place)
        if not strides or len(strides) > _MOST_ACCESSES:
            return None
        return Rows(strides, frozenset(self._slice(bases)))

    def _stride(self, i: Instruction, address: Operand) -> int | None:
        """Return the stride of an access that may be looked at for all threads at once, else None."""
        if not isinstance(address, Address) or address.base not in self._values:
            return None
        step = self._values[address.base].step
        if abs(step) > _LARGEST_STRIDE or step % memory.nbytes_of(i) or (i.parts[0] == "st" and not step):
            return None
        return step

    def _slice(self, bases: set[str]) -> set[int]:
        waiting, found = list(bases), set()
        while waiting:
            place = self._places.get(waiting.pop())
            if place is None or place in found:
                continue
            found.add(place)
            i = self._found[place]
            assert isinstance(i, Instruction)
            waiting += _names(i.operands[1:])
        return found

    def _take(self, i: Instruction, place: int) -> None:
        results = _results(i)
        if i.guard is not None or len(results) != 1 or results[0] not in self._once or i.parts[0] in _ANYWHERE:
            return
        value = self._value(i)
        if value is not None:
            self._values[results[0]] = value
            self._places[results[0]] = place

    def _operand(self, operand: Operand) -> _Value | None:
        if isinstance(operand, Number):
            return _EQUAL
        if isinstance(operand, Name) and not operand.is_negated:
            if operand.text == "%tid.x":
                return _Value(1)
            if operand.text.startswith(("%tid.", "%ntid.", "%ctaid.", "%nctaid.")):
                return _EQUAL
            return self._values.get(operand.text)
        return None

    def _value(self, i: Instruction) -> _Value | None:
        verb = i.parts[0]
        if verb == "ld":
            return _EQUAL if memory.space_of(i) == "param" else None
        if not types_of(i) or any(each.is_float for each in types_of(i)) or "cc" in i.parts:
            return None
        given = [self._operand(each) for each in i.operands[1:]]
        known = [each for each in given if each is not None]
        if len(known) < len(given):
            return None
        if verb == "cvta":
            return known[0] if memory.space_of(i) == "global" else None
        if not any(each.step or each.has_seam for each in known):
            return _EQUAL if verb in _OF_EQUALS else None
        if any(each.bits < 32 for each in types_of(i)) or "sat" in i.parts:  # noqa: PLR2004 - bits of a register
            return None
        return _grown(i, known)


def _grown(i: Instruction, given: list[_Value]) -> _Value | None:
    """Return the result of an instruction of which an operand grows from thread to thread."""
    verb, numbers = i.parts[0], [each.value if isinstance(each, Number) else None for each in i.operands[1:]]
    if verb == "mov":
        return given[0]
    if verb in {"neg", "not"}:
        return _Value(-given[0].step, given[0].has_seam)
    if verb == "cvt":
        to, of = types_of(i)
        return _widened(given[0]) if to.bits > of.bits else given[0] if to.bits == of.bits else None
    if verb in {"add", "sub"}:
        return _sum(given[0], given[1], -1 if verb == "sub" else 1)
    if verb == "shl" and numbers[1] is not None:
        return _Value(given[0].step << numbers[1], given[0].has_seam)
    if verb in {"mul", "mad"} and "hi" not in i.parts:
        product = _product(given, numbers, is_wide="wide" in i.parts)
        return product and (_sum(product, given[2], 1) if verb == "mad" else product)
    return None


def _product(given: list[_Value], numbers: list[int | None], *, is_wide: bool) -> _Value | None:
    if _EQUAL == given[0] == given[1]:
        return _EQUAL
    for value, number in ((given[0], numbers[1]), (given[1], numbers[0])):
        if number is not None:
            grown = _Value(value.step * number, value.has_seam)
            return _widened(grown) if is_wide else grown
    return None


def _widened(value: _Value) -> _Value | None:
    if value.has_seam or abs(value.step) > _LARGEST_STRIDE:
        return None
    return _Value(value.step, has_seam=bool(value.step))


def _sum(a: _Value, b: _Value, sign: int) -> _Value | None:
    """Return a sum; of two that may jump, the jumps could hide each other."""
    if a.has_seam and b.has_seam:
        return None
    return _Value(a.step + sign * b.step, a.has_seam or b.has_seam)


def _results(i: Instruction) -> list[str]:
    """Return the registers that an instruction may write."""
    return [] if i.parts[0] in {"st", "bra", "ret", "exit"} else _names(i.operands[:1])


def _names(operands: Sequence[Operand]) -> list[str]:
    found = []
    for each in operands:
        if isinstance(each, Name):
            found.append(each.text)
        elif isinstance(each, Group):
            found += _names(each.items)
    return found
