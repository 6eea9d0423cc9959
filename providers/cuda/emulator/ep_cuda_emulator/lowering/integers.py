"""Arithmetic of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering import floats
from ep_cuda_emulator.lowering.rules import lowers, type_of
from ep_cuda_emulator.lowering.types import PRED, S32, TYPES, Type
from ep_cuda_emulator.ptx.instruction import Name

if TYPE_CHECKING:
    from collections.abc import Callable

    from ep_cuda_emulator.lowering.writer import Writer
    from ep_cuda_emulator.ptx.instruction import Instruction

__all__: list[str] = []

_CARRY = Name("%cc")
"""The flag that add.cc, sub.cc and mad.cc leave to the next of them."""

_PAIR: Final = "<2 x i16>"


def _of_pairs(w: Writer, i: Instruction, compute: Callable[[str, str], str]) -> None:
    """Write what `compute` makes of two registers of two 16-bit integers each, as LLVM's vectors."""
    a, b = (w.value(f"bitcast i32 {w.read(each, S32)} to {_PAIR}") for each in i.operands[1:])
    w.write(i.operands[0], S32, w.value(f"bitcast {_PAIR} {compute(a, b)} to i32"))


def _is_of_pairs(i: Instruction) -> bool:
    return not {"s16x2", "u16x2"}.isdisjoint(i.parts)


@lowers("add", "sub", "addc", "subc", knows="rn rz rm rp ftz sat cc s16x2 u16x2")
def _add(w: Writer, i: Instruction) -> None:
    if _is_of_pairs(i):
        _of_pairs(w, i, lambda a, b: w.value(f"{i.parts[0]} {_PAIR} {a}, {b}"))
        return
    kind = type_of(i)
    if kind.is_float:
        floats.binary(w, i)
        return
    verb = i.parts[0][:3]
    a, b = (w.read(each, kind) for each in i.operands[1:])
    if "sat" in i.parts:
        w.write(
            i.operands[0], kind, w.intrinsic(f"llvm.s{verb}.sat.{kind.ir}", kind.ir, f"{kind.ir} {a}", f"{kind.ir} {b}")
        )
        return
    result = w.value(f"{verb} {kind.ir} {a}, {b}")
    carry = w.value(f"icmp ult {kind.ir} {result if verb == 'add' else a}, {a if verb == 'add' else b}")
    w.write(i.operands[0], kind, _carried(w, i, kind, result, carry))


def _carried(w: Writer, i: Instruction, kind: Type, result: str, carry: str) -> str:
    """Take the flag into a result whose own carry is known, and leave it behind, as the instruction says."""
    if i.parts[0].endswith("c"):
        given = w.value(f"zext i1 {w.read(_CARRY, PRED)} to {kind.raw}")
        is_less = i.parts[0] == "subc"
        whole = w.value(f"{'sub' if is_less else 'add'} {kind.raw} {result}, {given}")
        more = w.value(f"icmp ult {kind.raw} {result if is_less else whole}, {given}")
        result, carry = whole, w.value(f"or i1 {carry}, {more}")
    if "cc" in i.parts:
        w.write(_CARRY, PRED, carry)
    return result


def _product(w: Writer, i: Instruction, kind: Type) -> tuple[str, Type]:
    """Return the low or the high half of a product, or all of it, and its type."""
    a, b = (w.read(each, kind) for each in i.operands[1:3])
    if "lo" in i.parts:
        return w.value(f"mul {kind.ir} {a}, {b}"), kind
    wide = TYPES[f"{kind.name[0]}{kind.bits * 2}"] if not kind.is_wide else Type("", kind.kind, 128)
    wide_a, wide_b = (w.extended(each, kind, wide.bits) for each in (a, b))
    product = w.value(f"mul {wide.raw} {wide_a}, {wide_b}")
    if "wide" in i.parts:
        return product, wide
    shifted = w.value(f"lshr {wide.raw} {product}, {kind.bits}")
    return w.value(f"trunc {wide.raw} {shifted} to {kind.ir}"), kind


@lowers("mul", knows="lo hi wide rn rz rm rp ftz sat")
def _mul(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    if kind.is_float:
        floats.binary(w, i)
        return
    product, wide = _product(w, i, kind)
    w.write(i.operands[0], wide, product)


@lowers("mad", "madc", knows="lo hi wide cc rn rz rm rp ftz sat")
def _mad(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    if kind.is_float:
        floats.fused(w, i)
        return
    product, wide = _product(w, i, kind)
    addend = w.read(i.operands[3], wide)
    if "sat" in i.parts:
        w.write(i.operands[0], wide, w.intrinsic("llvm.sadd.sat.i32", "i32", f"i32 {product}", f"i32 {addend}"))
        return
    result = w.value(f"add {wide.raw} {product}, {addend}")
    carry = w.value(f"icmp ult {wide.raw} {result}, {product}")
    w.write(i.operands[0], wide, _carried(w, i, wide, result, carry))


@lowers("mul24", "mad24", knows="lo hi sat")
def _mul24(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    low = []
    for each in i.operands[1:3]:
        shifted = w.value(f"shl i32 {w.read(each, kind)}, 8")
        narrow = w.value(f"{'ashr' if kind.is_signed else 'lshr'} i32 {shifted}, 8")
        low.append(w.extended(narrow, kind, 64))
    product = w.value(f"mul i64 {low[0]}, {low[1]}")
    if "hi" in i.parts:
        product = w.value(f"lshr i64 {product}, 16")
    result = w.value(f"trunc i64 {product} to i32")
    if i.parts[0] == "mad24":
        addend = w.read(i.operands[3], kind)
        if "sat" in i.parts:
            result = w.intrinsic("llvm.sadd.sat.i32", "i32", f"i32 {result}", f"i32 {addend}")
        else:
            result = w.value(f"add i32 {result}, {addend}")
    w.write(i.operands[0], kind, result)


@lowers("div", "rem", knows="approx full rn rz rm rp ftz")
def _div(w: Writer, i: Instruction) -> None:
    """Division by zero gives all ones, its remainder the dividend, as GPUs do it; PTX leaves both open."""
    kind = type_of(i)
    if kind.is_float:
        floats.quotient(w, i)
        return
    a, b = (w.read(each, kind) for each in i.operands[1:])
    is_zero = w.value(f"icmp eq {kind.ir} {b}, 0")
    divisor = w.value(f"select i1 {is_zero}, {kind.ir} 1, {kind.ir} {b}")
    sign = "s" if kind.is_signed else "u"
    least = -(1 << kind.bits - 1)
    overflows = "false"
    if kind.is_signed:
        is_least = w.value(f"icmp eq {kind.ir} {a}, {least}")
        overflows = w.value(f"and i1 {is_least}, {w.value(f'icmp eq {kind.ir} {b}, -1')}")
        divisor = w.value(f"select i1 {overflows}, {kind.ir} 1, {kind.ir} {divisor}")
    if i.parts[0] == "div":
        result = w.value(f"{sign}div {kind.ir} {a}, {divisor}")
        result = w.value(f"select i1 {is_zero}, {kind.ir} -1, {kind.ir} {result}")
    else:
        result = w.value(f"{sign}rem {kind.ir} {a}, {divisor}")
        result = w.value(f"select i1 {is_zero}, {kind.ir} {a}, {kind.ir} {result}")
    w.write(i.operands[0], kind, result)


@lowers("abs", "neg", knows="ftz")
def _abs(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    if kind.is_float:
        floats.sign(w, i)
        return
    a = w.read(i.operands[1], kind)
    if i.parts[0] == "neg":
        w.write(i.operands[0], kind, w.value(f"sub {kind.ir} 0, {a}"))
    else:
        w.write(i.operands[0], kind, w.intrinsic(f"llvm.abs.{kind.ir}", kind.ir, f"{kind.ir} {a}", "i1 false"))


@lowers("min", "max", knows="ftz NaN relu s16x2 u16x2")
def _min(w: Writer, i: Instruction) -> None:
    """Write the lesser or the greater; with relu zero in place of what is negative."""
    if _is_of_pairs(i):
        is_signed = "s16x2" in i.parts
        _of_pairs(w, i, lambda *values: _extreme(w, i, _PAIR, values, is_signed=is_signed))
        return
    kind = type_of(i)
    if kind.is_float:
        floats.extreme(w, i)
        return
    a, b = (w.read(each, kind) for each in i.operands[1:])
    w.write(i.operands[0], kind, _extreme(w, i, kind.ir, (a, b), is_signed=kind.is_signed))


def _extreme(w: Writer, i: Instruction, spelled: str, values: tuple[str, str], *, is_signed: bool) -> str:
    suffix = "v2i16" if spelled == _PAIR else spelled
    verb = f"{'s' if is_signed else 'u'}{i.parts[0]}"
    found = w.intrinsic(f"llvm.{verb}.{suffix}", spelled, *(f"{spelled} {each}" for each in values))
    if "relu" not in i.parts:
        return found
    return w.intrinsic(f"llvm.smax.{suffix}", spelled, f"{spelled} {found}", f"{spelled} zeroinitializer")


@lowers("sad")
def _sad(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    a, b, c = (w.read(each, kind) for each in i.operands[1:])
    sign = "s" if kind.is_signed else "u"
    low = w.intrinsic(f"llvm.{sign}min.{kind.ir}", kind.ir, f"{kind.ir} {a}", f"{kind.ir} {b}")
    high = w.intrinsic(f"llvm.{sign}max.{kind.ir}", kind.ir, f"{kind.ir} {a}", f"{kind.ir} {b}")
    w.write(i.operands[0], kind, w.value(f"add {kind.ir} {c}, {w.value(f'sub {kind.ir} {high}, {low}')}"))


@lowers("dp4a", "dp2a", knows="lo hi")
def _dot(w: Writer, i: Instruction) -> None:
    kinds = [TYPES[part] for part in i.parts[1:] if part in TYPES]
    a, b = (w.read(each, kind) for each, kind in zip(i.operands[1:3], kinds, strict=True))
    total = w.read(i.operands[3], S32)
    wide, start = (8, 0) if i.parts[0] == "dp4a" else (16, 2 if "hi" in i.parts else 0)
    for place in range(32 // wide):
        terms = [_lane(w, a, kinds[0], place * wide, wide), _lane(w, b, kinds[1], (start + place) * 8, 8)]
        total = w.value(f"add i32 {total}, {w.value(f'mul i32 {terms[0]}, {terms[1]}')}")
    w.write(i.operands[0], S32, total)


def _lane(w: Writer, value: str, kind: Type, place: int, bits: int) -> str:
    moved = w.value(f"lshr i32 {value}, {place}")
    narrow = w.value(f"trunc i32 {moved} to i{bits}")
    return w.value(f"{'sext' if kind.is_signed else 'zext'} i{bits} {narrow} to i32")
