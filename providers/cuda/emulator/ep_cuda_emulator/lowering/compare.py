"""Comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering import floats
from ep_cuda_emulator.lowering.rules import lowers, types_of
from ep_cuda_emulator.lowering.types import B32, PRED, TYPES, Type
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
_ONES: Final = {"f16": 0x3C00, "bf16": 0x3F80, "f32": 0x3F800000}
_KNOWN: Final = " ".join({*_OF_FLOATS, *_OF_WORDS, *_JOINTS, "ftz"})


def _compared(w: Writer, i: Instruction, kind: Type) -> str:
    a, b = i.operands[1:3]
    verb = i.parts[1]
    if kind.is_float:
        if kind.is_pair:
            raise w.unsupported(i)
        return _compared_floats(w, i, kind, [floats.source(w, i, each, kind) for each in (a, b)])
    spelled = _OF_WORDS.get(verb) or f"{'s' if kind.is_signed else 'u'}{verb}"
    return w.value(f"icmp {spelled} {kind.ir} {w.read(a, kind)}, {w.read(b, kind)}")


def _compared_floats(w: Writer, i: Instruction, kind: Type, values: list[str]) -> str:
    a, b = (floats.wide(w, each, kind) for each in values)
    return w.value(f"fcmp {_OF_FLOATS[i.parts[1]]} {floats.wide_type(kind)} {a}, {b}")


def _joined(w: Writer, i: Instruction, result: str) -> str:
    joint = next((part for part in i.parts[2:] if part in _JOINTS), "")
    return w.value(f"{joint} i1 {result}, {w.predicate(i.operands[3])}") if joint else result


@lowers("setp", knows=_KNOWN)
def _setp(w: Writer, i: Instruction) -> None:
    compared = _compared(w, i, types_of(i)[-1])
    joined, target = _joined(w, i, compared), i.operands[0]
    if isinstance(target, Group):
        opposite = _joined(w, i, w.value(f"xor i1 {compared}, true"))
        w.write(target.items[1], PRED, opposite)
        target = target.items[0]
    w.write(target, PRED, joined)


@lowers("set", knows=_KNOWN)
def _set(w: Writer, i: Instruction) -> None:
    """All ones or 1.0 if it holds; of pairs, in the half that it holds of."""
    kind, source = types_of(i)
    if source.is_pair:
        _set_of_pairs(w, i, kind, source)
        return
    holds = _joined(w, i, _compared(w, i, source))
    w.write(i.operands[0], kind, w.cast(w.value(f"select i1 {holds}, {kind.raw} {_truth(kind)}, {kind.raw} 0"), kind))


def _set_of_pairs(w: Writer, i: Instruction, kind: Type, source: Type) -> None:
    half = TYPES[source.name.removesuffix("x2")]
    truth = _truth(TYPES[kind.name.removesuffix("x2")]) if kind.is_float else 0xFFFF
    halves = [floats.halves(w, i, each, half) for each in i.operands[1:3]]
    result = "0"
    for place, values in zip((0, 16), zip(*halves, strict=True), strict=True):
        holds = _joined(w, i, _compared_floats(w, i, half, list(values)))
        chosen = w.value(f"select i1 {holds}, i32 {truth << place}, i32 0")
        result = w.value(f"or i32 {result}, {chosen}")
    w.write(i.operands[0], B32, result)


def _truth(kind: Type) -> int:
    """Return the bits of 1.0, or all ones."""
    return _ONES[kind.name] if kind.is_float else (1 << kind.bits) - 1


@lowers("testp", knows="finite infinite number notanumber normal subnormal")
def _testp(w: Writer, i: Instruction) -> None:
    kind = types_of(i)[-1]
    tests = {"finite": 0x1F8, "infinite": 0x204, "number": 0x3FC, "notanumber": 0x3, "normal": 0x108, "subnormal": 0x90}
    value = w.read(i.operands[1], kind)
    result = w.intrinsic(f"llvm.is.fpclass.f{kind.bits}", "i1", f"{kind.ir} {value}", f"i32 {tests[i.parts[1]]}")
    w.write(i.operands[0], PRED, result)
