"""Barriers, exchanges within warps, and what else makes threads wait for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering.rules import lowers, type_of
from ep_cuda_emulator.lowering.types import B32, PRED, TYPES, U32
from ep_cuda_emulator.ptx.instruction import Group

if TYPE_CHECKING:
    from ep_cuda_emulator.lowering.writer import Writer
    from ep_cuda_emulator.ptx.instruction import Instruction, Operand

__all__ = ["WAITING"]

WAITING: Final = frozenset(
    {"bar", "barrier", "shfl", "vote", "match", "redux", "atom", "red", "nanosleep", "activemask"}
)
"""Opcodes for which threads of a block have to take turns."""

# The library's numbers (native/machine/warp.h).
_VOTES: Final = {"all": 0, "any": 1, "uni": 2, "ballot": 3}
_MATCHES: Final = {"any": 4, "all": 5}
_SHUFFLES: Final = {"idx": 6, "up": 7, "down": 8, "bfly": 9}
_REDUCTIONS: Final = {"add": 10, "min": 11, "max": 12, "and": 14, "or": 15, "xor": 16}
_UNSIGNED_MIN, _UNSIGNED_MAX = 17, 18
_SYNC: Final = 19


@lowers("bar", "barrier", knows="*")
def _barrier(w: Writer, i: Instruction) -> None:
    parts = [part for part in i.parts[1:] if part not in {"cta", "aligned"}]
    if parts[0] == "warp":
        _exchange(w, _SYNC, i.operands[0])
        return
    if parts[0] == "cluster" or i.parts[1] == "cluster":
        raise w.unsupported(i)
    operands = list(i.operands)
    target = operands.pop(0) if parts[0] == "red" else None
    flag = w.value(f"zext i1 {w.predicate(operands.pop())} to i32") if parts[0] == "red" else "0"
    number = w.read(operands[0], U32) if operands else "0"
    count = w.read(operands[1], U32) if len(operands) > 1 else "0"
    verb = {"sync": 0, "arrive": 1, "popc": 2, "and": 3, "or": 4}[parts[1] if parts[0] == "red" else parts[0]]
    aligned = int(i.parts[0] == "bar" or "aligned" in i.parts)
    arguments = (
        "ptr %thread",
        f"i32 {number}",
        f"i32 {count}",
        f"i32 {verb}",
        f"i32 {flag}",
        f"i32 {aligned}",
        f"i32 {i.line}",
    )
    result = w.runtime("ep_barrier", "i32", *arguments)
    if target is not None:
        if "popc" in parts:
            w.write(target, U32, result)
        else:
            w.write(target, PRED, w.value(f"trunc i32 {result} to i1"))


def _exchange(w: Writer, verb: int, mask: Operand, value: str = "0", extra: str = "0") -> str:
    """Wait for the lanes of a mask; return the lane's result, whose bit 32 is its predicate."""
    lanes = w.read(mask, B32)
    arguments = ("ptr %thread", f"i32 {verb}", f"i32 {lanes}", f"i64 {value}", f"i64 {extra}", f"i32 {w.line}")
    return w.runtime("ep_exchange", "i64", *arguments)


def _write_with_flag(w: Writer, target: Operand, result: str) -> None:
    """Write a lane's result, and its predicate if the instruction names one."""
    if isinstance(target, Group):
        w.write(target.items[1], PRED, w.value(f"trunc i64 {w.value(f'lshr i64 {result}, 32')} to i1"))
        target = target.items[0]
    w.write(target, B32, w.value(f"trunc i64 {result} to i32"))


@lowers("vote", knows="sync all any uni ballot")
def _vote(w: Writer, i: Instruction) -> None:
    verb = next(_VOTES[part] for part in i.parts if part in _VOTES)
    if "sync" not in i.parts:
        raise w.unsupported(i)
    result = _exchange(w, verb, i.operands[2], w.value(f"zext i1 {w.predicate(i.operands[1])} to i64"))
    if "ballot" in i.parts:
        w.write(i.operands[0], U32, w.value(f"trunc i64 {result} to i32"))
    else:
        w.write(i.operands[0], PRED, w.value(f"trunc i64 {result} to i1"))


@lowers("match", knows="sync any all")
def _match(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    value = w.extended(w.read(i.operands[1], kind), kind, 64)
    verb = _MATCHES["all" if "all" in i.parts else "any"]
    _write_with_flag(w, i.operands[0], _exchange(w, verb, i.operands[2], value))


@lowers("shfl", knows="sync idx up down bfly")
def _shuffle(w: Writer, i: Instruction) -> None:
    if "sync" not in i.parts:
        raise w.unsupported(i)
    verb = next(_SHUFFLES[part] for part in i.parts if part in _SHUFFLES)
    value = w.extended(w.read(i.operands[1], B32), B32, 64)
    lane, control = (w.extended(w.read(each, U32), U32, 64) for each in i.operands[2:4])
    extra = w.value(f"or i64 {w.value(f'shl i64 {control}, 32')}, {lane}")
    _write_with_flag(w, i.operands[0], _exchange(w, verb, i.operands[4], value, extra))


@lowers("redux", knows="sync add min max and or xor")
def _redux(w: Writer, i: Instruction) -> None:
    kind = type_of(i)
    verb = next(part for part in i.parts if part in _REDUCTIONS)
    number = _REDUCTIONS[verb]
    if kind.is_float:
        raise w.unsupported(i)
    if kind == TYPES["u32"] and verb in {"min", "max"}:
        number = _UNSIGNED_MIN if verb == "min" else _UNSIGNED_MAX
    result = _exchange(w, number, i.operands[2], w.extended(w.read(i.operands[1], kind), kind, 64))
    w.write(i.operands[0], U32, w.value(f"trunc i64 {result} to i32"))


@lowers("activemask")
def _active(w: Writer, i: Instruction) -> None:
    w.write(i.operands[0], B32, w.runtime("ep_active", "i32", "ptr %thread"))


@lowers("nanosleep")
def _sleep(w: Writer, i: Instruction) -> None:
    w.runtime("ep_yield", "void", "ptr %thread", f"i32 {i.line}")


@lowers("trap", "brkpt")
def _trap(w: Writer, i: Instruction) -> None:
    if i.parts[0] == "trap":
        w.runtime("ep_trap", "void", *w.self_arguments, f"i32 {i.line}")
        w.end("unreachable")


@lowers("griddepcontrol", "pmevent", knows="*")
def _nothing(w: Writer, i: Instruction) -> None:
    """Write nothing: launches are in order here, and nothing counts events."""
