"""Writer: one function of LLVM IR under construction, with the registers and variables of the PTX that it comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering.types import B64, PRED, TYPES, U32, Type
from ep_cuda_emulator.ptx.instruction import Address, Group, Instruction, Name, Number, Operand
from ep_cuda_emulator.ptx.words import PtxError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_cuda_emulator.lowering.place import Place

__all__ = ["SELF", "Writer"]

SELF: Final = "ptr %block, ptr %thread, i32 %tx, i32 %ty, i32 %tz"
"""The arguments that each function of the program gets: its block, the thread if threads take turns, and the thread's place."""

_FAMILY: Final = re.compile(r"(.*?)(\d+)$")


class Writer:
    """Writes the body of one function.

    places : what names outside registers stand for: variables, parameters, functions
    rows   : of accesses that were looked at for all threads of a row: the first thread's pointer, and the stride
    """

    def __init__(self, places: Mapping[str, Place], rows: Mapping[Instruction, tuple[str, int]] | None = None) -> None:
        self.rows = rows or {}
        self.lines: list[str] = []
        self.head: list[str] = []  # allocas
        self.needed: dict[str, str] = {}  # declarations of what the runtime has
        self.line = 0
        self._places = [dict(places)]
        self._registers: list[tuple[int, dict[str, Type]]] = [(0, {})]
        self._allocated: dict[str, tuple[str, Type]] = {}
        self._count = 0
        self._is_open = True

    # Lines and values.

    def emit(self, text: str) -> None:
        if not self._is_open:  # nothing branches here
            self.label(self.fresh("dead"))
        self.lines.append(f"  {text}")

    def value(self, text: str) -> str:
        """Write an instruction and return the name of its result."""
        self._count += 1
        name = f"%v{self._count}"
        self.emit(f"{name} = {text}")
        return name

    def fresh(self, name: str) -> str:
        self._count += 1
        return f"{name}.{self._count}"

    def label(self, name: str) -> None:
        """Begin a block; the one before goes on into it if it has no end."""
        if self._is_open:
            self.lines.append(f'  br label %"{name}"')
        self.lines.append(f'"{name}":')
        self._is_open = True

    def end(self, text: str) -> None:
        """End a block."""
        self.emit(text)
        self._is_open = False

    @property
    def is_open(self) -> bool:
        return self._is_open

    def intrinsic(self, name: str, result: str, *arguments: str) -> str:
        """Call an intrinsic of LLVM or a function of the prelude; arguments come with their types."""
        return self.value(f"call {result} @{name}({', '.join(arguments)})")

    def runtime(self, name: str, result: str, *arguments: str) -> str:
        """Call a function that the library has, and declare it."""
        kinds = ", ".join(argument.split(" ")[0] for argument in arguments)
        self.needed[name] = f"declare {result} @{name}({kinds})"
        call = f"call {result} @{name}({', '.join(arguments)})"
        if result == "void":
            self.emit(call)
            return ""
        return self.value(call)

    def unsupported(self, instruction: Instruction, why: str = "is not emulated") -> PtxError:
        return PtxError(instruction.line, f"{instruction.text} {why}", is_supported=False)

    # Scopes, registers and names.

    def open_scope(self) -> None:
        self._count += 1
        self._registers.append((self._count, {}))
        self._places.append({})

    def close_scope(self) -> None:
        self._registers.pop()
        self._places.pop()

    def declare_registers(self, words: tuple[str, ...]) -> None:
        """Take note of a .reg declaration: a type, then names, of which one with <n> stands for n."""
        kind = TYPES[words[1].removeprefix(".")]
        registers = self._registers[-1][1]
        rest = list(words[2:])
        while rest:
            name = rest.pop(0)
            if rest and rest[0] == "<":
                name, rest = f"{name}<", rest[3:]
            if name != ",":
                registers[name] = kind

    def declare_place(self, name: str, place: Place) -> None:
        self._places[-1][name] = place

    def place(self, name: str) -> Place:
        for places in reversed(self._places):
            if name in places:
                return places[name]
        raise PtxError(self.line, f"{name} is not declared")

    def register(self, name: str) -> tuple[str, Type]:
        """Return the memory of a register and its type."""
        for number, registers in reversed(self._registers):
            family = _FAMILY.match(name)
            kind = registers.get(name) or (registers.get(f"{family[1]}<") if family else None)
            if kind is None:
                continue
            key = f"{name}/{number}"
            if key not in self._allocated:
                self._allocated[key] = (f'%"{key}"', kind)
                self.head.append(f'  %"{key}" = alloca {kind.raw}')
            return self._allocated[key]
        raise PtxError(self.line, f"register {name} is not declared")

    def has_register(self, name: str) -> bool:
        family = _FAMILY.match(name)
        return any(name in registers or (family and f"{family[1]}<" in registers) for _, registers in self._registers)

    # Operands.

    def read(self, operand: Operand, kind: Type) -> str:
        """Return an operand's value in LLVM's type for `kind`."""
        if isinstance(operand, Number):
            return self._immediate(operand, kind)
        if isinstance(operand, Address):  # a variable and a distance
            start = self.read(Name(operand.base), kind)
            return self.value(f"add {kind.raw} {start}, {operand.offset}")
        if isinstance(operand, Group):
            return self._packed(operand, kind)
        if (operand.text.startswith("%") or operand.text == "WARP_SZ") and not self.has_register(operand.text):
            return self.cast(self._special(operand.text, kind), kind)
        if not self.has_register(operand.text):
            whole = self.place(operand.text).address(self)
            return whole if kind.is_wide else self.value(f"trunc i64 {whole} to {kind.raw}")
        memory, own = self.register(operand.text)
        found = self.value(f"load {own.raw}, ptr {memory}")
        if own.bits > kind.bits:
            found = self.value(f"trunc {own.raw} {found} to {kind.raw}")
        elif own.bits < kind.bits:
            found = self.value(f"{'sext' if own.is_signed else 'zext'} {own.raw} {found} to {kind.raw}")
        if operand.is_negated:
            found = self.value(f"xor {kind.raw} {found}, -1")
        return self.cast(found, kind)

    def write(self, operand: Operand, kind: Type, value: str) -> None:
        """Give a register a value of LLVM's type for `kind`; wider registers get its sign or zeros."""
        if isinstance(operand, Group):
            self._unpacked(operand, kind, value)
            return
        if not isinstance(operand, Name):
            raise PtxError(self.line, "a result needs a register")
        if operand.text == "_":
            return
        memory, own = self.register(operand.text)
        value = self.bits(value, kind)
        if own.bits > kind.bits:
            value = self.value(f"{'sext' if kind.is_signed else 'zext'} {kind.raw} {value} to {own.raw}")
        elif own.bits < kind.bits:
            value = self.value(f"trunc {kind.raw} {value} to {own.raw}")
        self.emit(f"store {own.raw} {value}, ptr {memory}")

    def predicate(self, operand: Operand) -> str:
        return self.read(operand, PRED)

    def cast(self, value: str, kind: Type) -> str:
        """Return bits as LLVM's type for `kind`."""
        return value if kind.ir == kind.raw else self.value(f"bitcast {kind.raw} {value} to {kind.ir}")

    def bits(self, value: str, kind: Type) -> str:
        """Return a value of LLVM's type for `kind` as bits."""
        return value if kind.ir == kind.raw else self.value(f"bitcast {kind.ir} {value} to {kind.raw}")

    def extended(self, value: str, kind: Type, bits: int) -> str:
        """Return an integer with more bits, or fewer."""
        if kind.bits == bits:
            return value
        verb = "trunc" if kind.bits > bits else "sext" if kind.is_signed else "zext"
        return self.value(f"{verb} {kind.raw} {value} to i{bits}")

    @property
    def self_arguments(self) -> tuple[str, ...]:
        return "ptr %block", "ptr %thread", "i32 %tx", "i32 %ty", "i32 %tz"

    def _immediate(self, number: Number, kind: Type) -> str:
        if kind.name == "pred":
            return "true" if number.value else "false"
        if number.bits and number.bits != kind.bits:
            if (number.bits, kind.bits) != (64, 32):
                raise PtxError(self.line, f"an immediate of {number.bits} bits cannot be {kind.name}")
            value = self.value(f"fptrunc double {_double(number.value)} to float")
            return value if kind.ir == "float" else self.value(f"bitcast float {value} to i32")
        if not number.bits and kind.ir != kind.raw:
            return self.value(f"sitofp i64 {number.value} to {kind.ir}")
        bits = number.value & (1 << kind.bits) - 1
        return str(bits) if kind.ir == kind.raw else f"bitcast ({kind.raw} {bits} to {kind.ir})"

    def _packed(self, group: Group, kind: Type) -> str:
        part = TYPES[f"b{kind.bits // len(group.items)}"]
        whole = "0"
        for place, item in enumerate(group.items):
            wide = self.value(f"zext {part.raw} {self.read(item, part)} to {kind.raw}")
            moved = self.value(f"shl {kind.raw} {wide}, {place * part.bits}")
            whole = self.value(f"or {kind.raw} {whole}, {moved}")
        return self.cast(whole, kind)

    def _unpacked(self, group: Group, kind: Type, value: str) -> None:
        part = TYPES[f"b{kind.bits // len(group.items)}"]
        whole = self.bits(value, kind)
        for place, item in enumerate(group.items):
            moved = self.value(f"lshr {kind.raw} {whole}, {place * part.bits}")
            self.write(item, part, self.value(f"trunc {kind.raw} {moved} to {part.raw}"))

    # Special registers.

    def _special(self, name: str, kind: Type) -> str:
        if name.startswith("%tid."):
            value = {"x": "%tx", "y": "%ty", "z": "%tz"}[name[-1]]
        elif name.startswith(("%ntid.", "%nctaid.", "%ctaid.")):
            value = self.field(f"{name[1:-2]}.{name[-1]}")
        elif name in {"%clock64", "%globaltimer"}:
            value = self.runtime("ep_nanoseconds", "i64")
            return value if kind.bits == B64.bits else self.value(f"trunc i64 {value} to i32")
        elif name in {"%clock", "%clock_hi", "%globaltimer_lo", "%globaltimer_hi"}:
            wide = self.runtime("ep_nanoseconds", "i64")
            wide = self.value(f"lshr i64 {wide}, 32") if name.endswith("hi") else wide
            value = self.value(f"trunc i64 {wide} to i32")
        else:
            value = self._of_warp(name)
        return value if kind.bits == U32.bits else self.extended(value, U32, kind.bits)

    def field(self, name: str) -> str:
        """Return a field of the block."""
        return self.intrinsic("ep.field", "i32", "ptr %block", f"i32 {_FIELDS[name]}")

    def _of_warp(self, name: str) -> str:
        plain = {"%smid": "smid", "%dynamic_smem_size": "dynamic", "%total_smem_size": "shared", "%gridid": "gridid"}
        if name in plain:
            return self.field(plain[name])
        constants = {"%nsmid": "2", "WARP_SZ": "32", "%warpsize": "32", "%lanemask_all": "-1"}
        if name in constants:
            return constants[name]
        row = self.value(f"mul i32 {self.field('ntid.y')}, %tz")
        row = self.value(f"add i32 {row}, %ty")
        row = self.value(f"mul i32 {row}, {self.field('ntid.x')}")
        linear = self.value(f"add i32 {row}, %tx")
        if name == "%warpid":
            return self.value(f"lshr i32 {linear}, 5")
        lane = self.value(f"and i32 {linear}, 31")
        own = self.value(f"shl i32 1, {lane}")
        below = self.value(f"sub i32 {own}, 1")
        up_to = self.value(f"or i32 {below}, {own}")
        masks = {"%lanemask_eq": own, "%lanemask_lt": below, "%lanemask_le": up_to, "%laneid": lane}
        if name in masks:
            return masks[name]
        if name == "%lanemask_gt":
            return self.value(f"xor i32 {up_to}, -1")
        if name == "%lanemask_ge":
            return self.value(f"xor i32 {below}, -1")
        if name == "%nwarpid":
            area = self.value(f"mul i32 {self.field('ntid.x')}, {self.field('ntid.y')}")
            count = self.value(f"mul i32 {area}, {self.field('ntid.z')}")
            return self.value(f"lshr i32 {self.value(f'add i32 {count}, 31')}, 5")
        raise PtxError(self.line, f"the special register {name} is not emulated", is_supported=False)


_FIELDS: Final = {
    name: place
    for place, name in enumerate(
        (
            *("ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z", "ctaid.x", "ctaid.y", "ctaid.z"),
            *("shared", "dynamic", "smid", "gridid"),
        )
    )
}
"""The first fields of the library's Block, 32 bits each (native/machine/block.h)."""


def _double(bits: int) -> str:
    return f"bitcast (i64 {bits} to double)"
