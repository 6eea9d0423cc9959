"""Words of bits: logic, shifts, fields, counts, permutations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep_cuda_emulator.lowering import floats
from ep_cuda_emulator.lowering.rules import lowers, type_of, types_of
from ep_cuda_emulator.lowering.types import B32, B64, S32, U32, Type
from ep_cuda_emulator.ptx.instruction import Number

if TYPE_CHECKING:
    from ep_cuda_emulator.lowering.writer import Writer
    from ep_cuda_emulator.ptx.instruction import Instruction

__all__: list[str] = []


@lowers("and", "or", "xor")
def _logic(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    a, b = (w.read(each, kind) for each in i.operands[1:])
    w.write(i.operands[0], kind, w.value(f"{i.parts[0]} {kind.ir} {a}, {b}"))


@lowers("not")
def _not(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    w.write(i.operands[0], kind, w.value(f"xor {kind.ir} {w.read(i.operands[1], kind)}, -1"))


@lowers("cnot")
def _cnot(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    is_zero = w.value(f"icmp eq {kind.ir} {w.read(i.operands[1], kind)}, 0")
    w.write(i.operands[0], kind, w.value(f"zext i1 {is_zero} to {kind.ir}"))


@lowers("lop3")
def _lop3(w: Writer, i: Instruction) -> None:
    """Any function of three bits: bit k of the table is its value for the bits of k."""
    target, *sources, table = i.operands
    if not isinstance(table, Number):
        raise w.unsupported(i)
    inputs = [w.read(each, B32) for each in sources]
    result = "0"
    opposites = [w.value(f"xor i32 {each}, -1") for each in inputs]
    for place in range(8):
        if table.value >> place & 1:
            a, b, c = (inputs[each] if place >> 2 - each & 1 else opposites[each] for each in range(3))
            term = w.value(f"and i32 {w.value(f'and i32 {a}, {b}')}, {c}")
            result = w.value(f"or i32 {result}, {term}")
    w.write(target, B32, result)


@lowers("shl", "shr")
def _shift(w: Writer, i: Instruction) -> None:
    """Shifts by as many bits as there are, or more, leave zeros or signs."""
    kind = type_of(i)
    a, count = w.read(i.operands[1], kind), w.read(i.operands[2], U32)
    verb = "shl" if i.parts[0] == "shl" else "ashr" if kind.is_signed else "lshr"
    is_large = w.value(f"icmp uge i32 {count}, {kind.bits}")
    safe = w.value(f"select i1 {is_large}, i32 {kind.bits - 1}, i32 {count}")
    moved = w.value(f"{verb} {kind.ir} {a}, {w.extended(safe, U32, kind.bits)}")
    if verb != "ashr":
        moved = w.value(f"select i1 {is_large}, {kind.ir} 0, {kind.ir} {moved}")
    w.write(i.operands[0], kind, moved)


@lowers("shf", knows="l r clamp wrap")
def _funnel(w: Writer, i: Instruction) -> None:
    low, high, count = (w.read(each, U32) for each in i.operands[1:])
    if "clamp" in i.parts:
        count = w.intrinsic("llvm.umin.i32", "i32", f"i32 {count}", "i32 32")
    else:
        count = w.value(f"and i32 {count}, 31")
    both = w.value(f"or i64 {w.value(f'shl i64 {w.extended(high, U32, 64)}, 32')}, {w.extended(low, U32, 64)}")
    wide = w.extended(count, U32, 64)
    if "l" in i.parts:
        both = w.value(f"lshr i64 {w.value(f'shl i64 {both}, {wide}')}, 32")
    else:
        both = w.value(f"lshr i64 {both}, {wide}")
    w.write(i.operands[0], U32, w.value(f"trunc i64 {both} to i32"))


@lowers("popc", "clz")
def _count(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    value = f"{kind.ir} {w.read(i.operands[1], kind)}"
    if i.parts[0] == "popc":
        count = w.intrinsic(f"llvm.ctpop.{kind.ir}", kind.ir, value)
    else:
        count = w.intrinsic(f"llvm.ctlz.{kind.ir}", kind.ir, value, "i1 false")
    w.write(i.operands[0], U32, w.extended(count, kind, 32))


@lowers("brev")
def _reverse(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    value = f"{kind.ir} {w.read(i.operands[1], kind)}"
    w.write(i.operands[0], kind, w.intrinsic(f"llvm.bitreverse.{kind.ir}", kind.ir, value))


@lowers("bfind", knows="shiftamt")
def _find(w: Writer, i: Instruction) -> None:
    """Write the place of the highest bit that is not the sign; all ones if there is none."""
    kind = type_of(i)
    value = w.read(i.operands[1], kind)
    if kind.is_signed:
        value = w.value(f"xor {kind.ir} {value}, {w.value(f'ashr {kind.ir} {value}, {kind.bits - 1}')}")
    zeros = w.intrinsic(f"llvm.ctlz.{kind.ir}", kind.ir, f"{kind.ir} {value}", "i1 false")
    zeros = w.extended(zeros, Type("", "u", kind.bits), 32)
    result = w.value(f"sub i32 {kind.bits - 1}, {zeros}")
    if "shiftamt" in i.parts:
        is_none = w.value(f"icmp eq i32 {zeros}, {kind.bits}")
        result = w.value(f"select i1 {is_none}, i32 -1, i32 {zeros}")
    w.write(i.operands[0], U32, result)


@lowers("bfe", "bfi", "prmt", "bmsk", "szext", "fns", knows="f4e b4e rc8 ecl ecr rc16 clamp wrap")
def _field(w: Writer, i: Instruction) -> None:
    """Fields are the runtime's functions: their corners are many, and their uses few."""
    kind = type_of(i)
    name = "_".join(("ep", i.parts[0], *(part for part in i.parts[1:] if part not in {"b32", "b64"})))
    if i.parts[0] in {"bfe", "bfi"}:
        wide = [w.extended(w.read(each, kind), kind, 64) for each in i.operands[1 : -2 if i.parts[0] == "bfi" else 2]]
        place, length = (w.read(each, U32) for each in i.operands[-2:])
        name = f"ep_bfi_{kind.bits}" if i.parts[0] == "bfi" else name
        result = w.runtime(name, "i64", *(f"i64 {each}" for each in wide), f"i32 {place}", f"i32 {length}")
        w.write(i.operands[0], kind, w.extended(result, B64, kind.bits))
        return
    arguments = [f"i32 {w.read(each, U32)}" for each in i.operands[1:]]
    w.write(i.operands[0], S32 if "s32" in i.parts else U32, w.runtime(name, "i32", *arguments))


@lowers("mov")
def _mov(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    w.write(i.operands[0], kind, w.read(i.operands[1], kind))


@lowers("selp")
def _select(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    a, b = (w.read(each, kind) for each in i.operands[1:3])
    chosen = w.value(f"select i1 {w.predicate(i.operands[3])}, {kind.ir} {a}, {kind.ir} {b}")
    w.write(i.operands[0], kind, chosen)


@lowers("slct", knows="ftz")
def _by_sign(w: Writer, i: Instruction) -> None:
    kind, by = types_of(i)
    a, b = (w.read(each, kind) for each in i.operands[1:3])
    sign = floats.source(w, i, i.operands[3], by)
    zero = f"fcmp oge float {sign}, 0.0" if by.is_float else f"icmp sge i32 {sign}, 0"
    chosen = w.value(f"select i1 {w.value(zero)}, {kind.ir} {a}, {kind.ir} {b}")
    w.write(i.operands[0], kind, chosen)
