"""Loads, stores, atomics and addresses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering.rules import lowers, type_of
from ep_cuda_emulator.lowering.types import B64, PRED, U32, U64, Type
from ep_cuda_emulator.ptx.instruction import Address, Group, Instruction, Name, Number, Operand

if TYPE_CHECKING:
    from ep_cuda_emulator.lowering.writer import Writer

__all__ = ["address_of", "nbytes_of", "space_of"]

_SPACES: Final = ("global", "const", "shared", "local", "param")
_READ, _WRITE, _ATOMIC, _OPEN_READ, _OPEN_WRITE = range(5)  # the library's Access (native/machine/races.h)
_ORDERS: Final = "weak volatile relaxed mmio cta cluster gpu sys global const shared local param"
_CACHES: Final = "ca cg cs cv lu wb wt nc unified L1 L2 v2 v4 v8"
_LOADS: Final = f"{_ORDERS} {_CACHES} acquire"
_STORES: Final = f"{_ORDERS} {_CACHES} release"
_VERBS: Final = "add and or xor exch inc dec min max cas"
_ATOMICS: Final = f"{_ORDERS} acquire release acq_rel noftz L2 {_VERBS}"
_VECTOR: Final = re.compile(r"v([248])$")


def space_of(i: Instruction) -> str:
    """Return the space that an instruction names, "" for a generic address."""
    for part in i.parts[1:]:
        plain = part.partition("::")[0]
        if plain in _SPACES:
            return plain
    return ""


def nbytes_of(i: Instruction) -> int:
    """Return how many bytes a load or store takes."""
    return type_of(i).nbytes * _count(i)


def address_of(w: Writer, operand: Operand) -> str:
    """Return an address as i64."""
    if not isinstance(operand, Address):
        return w.read(operand, U64)
    if not operand.base:
        return str(operand.offset)
    start = w.read(Name(operand.base), U64)
    return w.value(f"add i64 {start}, {operand.offset}") if operand.offset else start


def _pointer(w: Writer, i: Instruction, operand: Operand, nbytes: int, access: int) -> str:
    """Return LLVM's pointer to what an instruction accesses, checked here or before."""
    if i in w.rows:
        return _in_row(w, i)
    space = space_of(i)
    if isinstance(operand, Address) and operand.base and not w.has_register(operand.base):
        place = w.place(operand.base)
        if place.space in {"argument", "local"}:
            return w.value(f"getelementptr i8, ptr {place.where}, i64 {operand.offset}")
    if space == "local":
        return w.value(f"inttoptr i64 {address_of(w, operand)} to ptr")
    if space == "param":
        start = w.intrinsic("ep.parameters", "ptr", "ptr %block")
        return w.value(f"getelementptr i8, ptr {start}, i64 {address_of(w, operand)}")
    address = address_of(w, operand)
    told = f"i64 {address}", f"i32 {nbytes}", f"i32 {access}", f"i32 {i.line}"
    if space == "shared":
        return w.runtime("ep_shared", "ptr", "ptr %block", "ptr %thread", *told)
    return w.intrinsic("ep.global" if space else "ep.generic", "ptr", *w.self_arguments, *told)


def _in_row(w: Writer, i: Instruction) -> str:
    first, stride = w.rows[i]
    number = w.value("zext i32 %tx to i64")
    distance = w.value(f"mul nsw i64 {number}, {stride}")
    return w.value(f"getelementptr i8, ptr {first}, i64 {distance}")


def _mark(w: Writer, i: Instruction) -> str:
    """Return what says of an access of a whole row that it depends on no other thread's."""
    return ", !llvm.access.group !2" if i in w.rows else ""


def _count(i: Instruction) -> int:
    return next((int(found[1]) for part in i.parts if (found := _VECTOR.match(part))), 1)


def _is_shared_by_threads(i: Instruction) -> bool:
    return any(part in {"volatile", "relaxed", "acquire", "release", "mmio"} for part in i.parts)


@lowers("ld", "ldu", knows=_LOADS)
def _load(w: Writer, i: Instruction) -> None:
    kind, count = type_of(i), _count(i)
    access = _OPEN_READ if _is_shared_by_threads(i) else _READ
    if access == _OPEN_READ:
        w.runtime("ep_yield", "void", "ptr %thread", f"i32 {i.line}")
    start = _pointer(w, i, i.operands[1], kind.nbytes * count, access)
    target = i.operands[0]
    items = target.items if isinstance(target, Group) and count > 1 else (target,)
    values = _loaded(w, i, start) if access == _READ else _loaded_one_by_one(w, kind, count, start)
    if any(part == "acquire" for part in i.parts):
        w.emit("fence acquire")
    for item, value in zip(items, values, strict=True):
        w.write(item, _bits_of(kind), value)


def _loaded(w: Writer, i: Instruction, start: str) -> list[str]:
    kind, count = type_of(i), _count(i)
    spelled = f"<{count} x {kind.raw}>" if count > 1 else kind.raw
    whole = w.value(f"load {spelled}, ptr {start}, align {kind.nbytes}{_mark(w, i)}")
    if count == 1:
        return [whole]
    return [w.value(f"extractelement {spelled} {whole}, i32 {place}") for place in range(count)]


def _loaded_one_by_one(w: Writer, kind: Type, count: int, start: str) -> list[str]:
    places = (w.value(f"getelementptr i8, ptr {start}, i64 {place * kind.nbytes}") for place in range(count))
    return [w.value(f"load atomic {kind.raw}, ptr {each} monotonic, align {kind.nbytes}") for each in places]


def _bits_of(kind: Type) -> Type:
    """Return the integer that a register gets: with the sign if it is wider."""
    return Type("", "s" if kind.is_signed else "u", kind.bits)


@lowers("st", knows=_STORES)
def _store(w: Writer, i: Instruction) -> None:
    kind, count = type_of(i), _count(i)
    source = i.operands[1]
    items = source.items if isinstance(source, Group) and count > 1 else (source,)
    values = [w.bits(w.read(item, kind), kind) for item in items]
    access = _OPEN_WRITE if _is_shared_by_threads(i) else _WRITE
    start = _pointer(w, i, i.operands[0], kind.nbytes * count, access)
    if any(part == "release" for part in i.parts):
        w.emit("fence release")
    if access == _WRITE:
        whole, spelled = _joined(w, kind, values)
        w.emit(f"store {spelled} {whole}, ptr {start}, align {kind.nbytes}{_mark(w, i)}")
        return
    for place, value in enumerate(values):
        each = w.value(f"getelementptr i8, ptr {start}, i64 {place * kind.nbytes}")
        w.emit(f"store atomic {kind.raw} {value}, ptr {each} monotonic, align {kind.nbytes}")


def _joined(w: Writer, kind: Type, values: list[str]) -> tuple[str, str]:
    """Return values as one, a vector if there are several, and its type."""
    if len(values) == 1:
        return values[0], kind.raw
    spelled, whole = f"<{len(values)} x {kind.raw}>", "poison"
    for place, value in enumerate(values):
        whole = w.value(f"insertelement {spelled} {whole}, {kind.raw} {value}, i32 {place}")
    return whole, spelled


_INTEGER_VERBS: Final = {
    "add": "add",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "exch": "xchg",
    "inc": "uinc_wrap",
    "dec": "udec_wrap",
}


@lowers("atom", "red", knows=_ATOMICS)
def _atomic(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    has_result = i.parts[0] == "atom"
    where, *sources = i.operands[1:] if has_result else i.operands
    verb = next(part for part in i.parts[1:] if part in {*_INTEGER_VERBS, "min", "max", "cas"})
    if _count(i) > 1 or kind.nbytes > U64.nbytes:
        raise w.unsupported(i)
    w.runtime("ep_yield", "void", "ptr %thread", f"i32 {i.line}")
    start = _pointer(w, i, where, kind.nbytes, _ATOMIC)
    values = [w.read(each, kind) for each in sources]
    if verb == "cas":
        bits = [w.bits(each, kind) for each in values]
        pair = w.value(
            f"cmpxchg ptr {start}, {kind.raw} {bits[0]}, {kind.raw} {bits[1]} seq_cst seq_cst, align {kind.nbytes}"
        )
        old = w.value(f"extractvalue {{ {kind.raw}, i1 }} {pair}, 0")
    elif kind.is_pair or (kind.is_float and kind.is_half):
        if verb != "add":
            raise w.unsupported(i)
        name = f"ep_atomic_add_{kind.name}"
        spelled = f"i{kind.bits}"
        old = w.runtime(name, spelled, f"ptr {start}", f"{spelled} {w.bits(values[0], kind)}")
    elif kind.name == "f32" and verb == "add":
        own = f"i32 {w.bits(values[0], kind)}"
        old = w.runtime("ep_atomic_add_f32", "i32", f"ptr {start}", own, f"i32 {_is_shared(w, i, where)}")
    elif kind.is_float:
        if verb not in {"add", "exch"}:
            raise w.unsupported(i)
        word = "fadd" if verb == "add" else "xchg"
        found = w.value(f"atomicrmw {word} ptr {start}, {kind.ir} {values[0]} seq_cst, align {kind.nbytes}")
        old = w.bits(found, kind)
    else:
        word = _INTEGER_VERBS.get(verb) or (verb if kind.is_signed else f"u{verb}")
        old = w.value(f"atomicrmw {word} ptr {start}, {kind.raw} {values[0]} seq_cst, align {kind.nbytes}")
    if has_result:
        w.write(i.operands[0], _bits_of(kind), old)


def _is_shared(w: Writer, i: Instruction, where: Operand) -> str:
    """Return 1 if an access is of shared memory, which a generic address says when it is there."""
    space = space_of(i)
    if space:
        return str(int(space == "shared"))
    return w.runtime(
        "ep_is_space", "i32", *w.self_arguments[:2], f"i64 {address_of(w, where)}", f"i32 {_SPACES.index('shared')}"
    )


@lowers("cvta", knows="to global const shared local param")
def _generic(w: Writer, i: Instruction) -> None:
    """Shared memory and parameters have a window among generic addresses; global and local ones are what they are."""
    kind = type_of(i)
    value = w.read(i.operands[1], kind)
    space = space_of(i)
    if space in {"shared", "param"}:
        verb = "sub" if "to" in i.parts else "add"
        base = w.intrinsic(f"ep.window.{space}", "i64")
        wide = w.extended(value, kind, 64)
        value = w.extended(w.value(f"{verb} i64 {wide}, {base}"), B64, kind.bits)
    w.write(i.operands[0], kind, value)


@lowers("isspacep", knows="global const shared local param")
def _is_space(w: Writer, i: Instruction) -> None:
    address = w.read(i.operands[1], U64)
    space = _SPACES.index(space_of(i))
    result = w.runtime("ep_is_space", "i32", *w.self_arguments[:2], f"i64 {address}", f"i32 {space}")
    w.write(i.operands[0], PRED, w.value(f"trunc i32 {result} to i1"))


@lowers("prefetch", "prefetchu", "discard", "applypriority", "createpolicy", knows="*")
def _hint(w: Writer, i: Instruction) -> None:
    """Hints change nothing."""
    if i.parts[0] == "createpolicy":
        w.write(i.operands[0], B64, "0")


@lowers("fence", "membar", knows="*")
def _fence(w: Writer, i: Instruction) -> None:
    del i
    w.emit("fence seq_cst")


@lowers("cp", knows="*")
def _copy(w: Writer, i: Instruction) -> None:
    """Copy at once what is copied asynchronously, which any program must be right with."""
    if i.parts[1] != "async" or "bulk" in i.parts or "mbarrier" in i.parts:
        raise w.unsupported(i)
    if "commit_group" in i.parts or "wait_group" in i.parts or "wait_all" in i.parts:
        return
    place, start, size, *given = i.operands
    if not isinstance(size, Number):
        raise w.unsupported(i)
    to = Instruction(("st", "shared"), (), None, i.line)
    of = Instruction(("ld", "global"), (), None, i.line)
    target = _pointer(w, to, place, size.value, _WRITE)
    if any(part.endswith("cache_hint") for part in i.parts):
        given.pop()
    if given:
        part = f"i32 {size.value}", f"i32 {_copied(w, given[0], size.value)}"
        source = f"i64 {address_of(w, start)}"
        w.runtime("ep_copy_part", "void", *w.self_arguments, f"ptr {target}", source, *part, f"i32 {i.line}")
        return
    source = _pointer(w, of, start, size.value, _READ)
    w.emit(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {size.value}, i1 false)")


def _copied(w: Writer, operand: Operand, size: int) -> str:
    """Return how many bytes are copied: as many as the operand says, or none if it is a predicate that holds."""
    if isinstance(operand, Name) and w.has_register(operand.text) and w.register(operand.text)[1] == PRED:
        return w.value(f"select i1 {w.predicate(operand)}, i32 0, i32 {size}")
    return w.read(operand, U32)
