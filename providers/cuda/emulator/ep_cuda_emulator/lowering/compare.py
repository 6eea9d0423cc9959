"""Comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering import floats
from ep_cuda_emulator.lowering.rules import lowers, types_of
from ep_cuda_emulator.lowering.types import PRED, Type
from ep_cuda_emulator.ptx.instruction import Group

if TYPE_CHECKING:
    from ep_cuda_emulator.lowering.writer import Writer
    from ep_cuda_emulator.ptx.instruction import Instruction

__all__: list[str] = []

_OF_FLOATS: Final = {
    **{name: f"o{name}" for name in ("eq", "lt", "le", "gt", "ge")},
    "ne": "one",
    "equ": "ueq",
    "neu": "une",
    "num": "ord",
    "nan": "uno",
    **{f"{name}u": f"u{name}" for name in ("lt", "le", "gt", "ge")},
}
_OF_WORDS: Final = {"lo": "ult", "ls": "ule", "hi": "ugt", "hs": "uge", "eq": "eq", "ne": "ne"}
_JOINTS: Final = {"and", "or", "xor"}


def _compared(w: Writer, i: Instruction, kind: Type) -> str:
    a, b = i.operands[1:3]
    verb = i.parts[1]
    if kind.is_float:
        if kind.is_pair:
            raise w.unsupported(i)
        values = [floats.wide(w, floats.source(w, i, each, kind), kind) for each in (a, b)]
        return w.value(f"fcmp {_OF_FLOATS[verb]} {floats.wide_type(kind)} {values[0]}, {values[1]}")
    spelled = _OF_WORDS.get(verb) or f"{'s' if kind.is_signed else 'u'}{verb}"
    return w.value(f"icmp {spelled} {kind.ir} {w.read(a, kind)}, {w.read(b, kind)}")


def _joined(w: Writer, i: Instruction, result: str) -> str:
    joint = next((part for part in i.parts[2:] if part in _JOINTS), "")
    return w.value(f"{joint} i1 {result}, {w.predicate(i.operands[3])}") if joint else result


@lowers("setp")
def _setp(w: Writer, i: Instruction) -> None:
    compared = _compared(w, i, types_of(i)[-1])
    joined, target = _joined(w, i, compared), i.operands[0]
    if isinstance(target, Group):
        opposite = _joined(w, i, w.value(f"xor i1 {compared}, true"))
        w.write(target.items[1], PRED, opposite)
        target = target.items[0]
    w.write(target, PRED, joined)


@lowers("set")
def _set(w: Writer, i: Instruction) -> None:
    """All ones or 1.0 if it holds."""
    kind, source = types_of(i)
    holds = _joined(w, i, _compared(w, i, source))
    if kind.is_float:
        w.write(i.operands[0], kind, w.value(f"uitofp i1 {holds} to {kind.ir}"))
    else:
        w.write(i.operands[0], kind, w.value(f"sext i1 {holds} to {kind.ir}"))


@lowers("testp")
def _testp(w: Writer, i: Instruction) -> None:
    kind = types_of(i)[-1]
    tests = {"finite": 0x1F8, "infinite": 0x204, "number": 0x3FC, "notanumber": 0x3, "normal": 0x108, "subnormal": 0x90}
    value = w.read(i.operands[1], kind)
    result = w.intrinsic(f"llvm.is.fpclass.f{kind.bits}", "i1", f"{kind.ir} {value}", f"i32 {tests[i.parts[1]]}")
    w.write(i.operands[0], PRED, result)
