"""From an entry and all functions that it calls to one module of LLVM IR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_cuda_emulator.lowering import bits, compare, convert, floats, integers, memory, threads
from ep_cuda_emulator.lowering.affine import rows_of
from ep_cuda_emulator.lowering.body import write_body
from ep_cuda_emulator.lowering.place import Place
from ep_cuda_emulator.lowering.prelude import prelude
from ep_cuda_emulator.lowering.rows import address_writer, by_block
from ep_cuda_emulator.lowering.writer import SELF, Writer
from ep_cuda_emulator.ptx.instruction import Declaration, Instruction, Name, statements
from ep_cuda_emulator.ptx.module import declared

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ep_cuda_emulator.layout import Layout
    from ep_cuda_emulator.ptx.instruction import Label, Scope
    from ep_cuda_emulator.ptx.module import Function, Module, Variable

    Statement = Declaration | Label | Scope | Instruction

__all__ = ["Lowered", "lower"]

_LANGUAGE: Final = (bits, compare, convert, floats, integers, memory, threads)  # each adds its rules


class Lowered(NamedTuple):
    """An entry as LLVM IR.

    text           : of a module whose function ep_run runs it
    is_cooperative : True if its threads take turns; it is then called once a thread, else once a block
    shared         : bytes of static shared memory
    """

    text: str
    is_cooperative: bool
    shared: int


def lower(module: Module, name: str, layout: Layout, *, tracks_writes: bool = False, by_rows: bool = False) -> Lowered:
    """Return an entry as LLVM IR, with `by_rows` longer and, where it only moves data evenly, faster. Raises PtxError."""
    entry = module.functions[name]
    bodies = _reachable(module, entry)
    shared = _Shared()
    places: dict[str, Place] = {}
    for variable in module.variables.values():
        if variable.space == "shared":
            shared.add(variable)
        else:
            places[variable.name] = Place(variable.space, f'@"{variable.name}"')
    for found in bodies.values():
        for each in found:
            if isinstance(each, Declaration) and each.words[0] == ".shared":
                shared.add(declared(each.words, each.line))
    places.update(shared.places())
    is_cooperative = any(_waits(each) for found in bodies.values() for each in found)
    parts = [prelude(layout, tracks_writes=tracks_writes)]
    needed: dict[str, str] = {}
    for function_name, found in bodies.items():
        function = module.functions[function_name]
        writer = Writer({**places, **_parameters(function)})
        write_body(writer, found, module, is_entry=function.is_entry)
        needed.update(writer.needed)
        arguments = [f'ptr %"{each.name}"' for each in (*function.results, *function.parameters)]
        given = () if function.is_entry else arguments
        parts.append(
            _defined(_symbol(function_name), given, writer, is_inlined=function.is_entry or not is_cooperative)
        )
    rows = rows_of(bodies[name]) if by_rows and not is_cooperative and not tracks_writes else None
    if rows:
        places.update(_parameters(entry))
        writer = Writer(places, rows.first_pointers())
        write_body(writer, bodies[name], module, is_entry=True)
        parts.append(_defined("ep.entry.row", rows.pointers(), writer, is_inlined=True))
        parts.append(
            _defined(
                "ep.entry.addresses", ["ptr %addresses"], address_writer(bodies[name], rows, places), is_inlined=True
            )
        )
    parts.append(_BY_THREAD if is_cooperative else by_block(rows))
    text = "".join(parts).replace("@ENTRY", f'@"{_symbol(name)}"')
    variables = (each for each in places if places[each].space in {"global", "const"} and f'@"{each}"' in text)
    outside = "".join(f'@"{each}" = external global i8\n' for each in variables)
    declarations = "\n".join(needed.values())
    return Lowered(f"{text}{outside}{declarations}\n", is_cooperative, shared.nbytes)


class _Shared:
    """Places of shared variables behind each other, those without a length at the end."""

    def __init__(self) -> None:
        self._offsets: dict[str, int] = {}
        self._dynamic: list[Variable] = []
        self.nbytes = 0

    def add(self, variable: Variable) -> None:
        if variable.name in self._offsets:
            return
        if variable.count is None or not variable.nbytes:
            self._dynamic.append(variable)
            return
        start = -(-self.nbytes // variable.align) * variable.align
        self._offsets[variable.name] = start
        self.nbytes = start + variable.nbytes

    def places(self) -> dict[str, Place]:
        for variable in self._dynamic:
            self.nbytes = -(-self.nbytes // variable.align) * variable.align
        offsets = {**self._offsets, **{variable.name: self.nbytes for variable in self._dynamic}}
        return {name: Place("shared", offset=offset) for name, offset in offsets.items()}


def _reachable(module: Module, entry: Function) -> dict[str, list[Statement]]:
    """Return the statements of an entry and of all functions that it may call."""
    found: dict[str, list[Statement]] = {}
    waiting = [entry.name]
    while waiting:
        function = module.functions[waiting.pop()]
        if function.name in found or not function.body:
            continue
        found[function.name] = list(statements(function.body, function.line))
        for each in found[function.name]:
            if isinstance(each, Instruction) and each.parts[0] == "call":
                waiting.extend(
                    name.text for name in each.operands if isinstance(name, Name) and name.text in module.functions
                )
    return found


def _waits(statement: Statement) -> bool:
    if isinstance(statement, Declaration):
        return statement.words[0] == ".shared"
    if not isinstance(statement, Instruction):
        return False
    parts = statement.parts
    return (
        parts[0] in threads.WAITING
        or memory.space_of(statement) == "shared"
        or (parts[0] in {"ld", "st"} and not {"volatile", "acquire", "release", "relaxed"}.isdisjoint(parts))
    )


def _parameters(function: Function) -> dict[str, Place]:
    if function.is_entry:
        return {each.name: Place("param", offset=each.offset) for each in function.parameters}
    return {each.name: Place("argument", f'%"{each.name}"') for each in (*function.parameters, *function.results)}


def _symbol(name: str) -> str:
    return f"ptx.{name}"


def _defined(symbol: str, given: Iterable[str], writer: Writer, *, is_inlined: bool) -> str:
    arguments = ", ".join((SELF, *given))
    head, lines = "\n".join(writer.head), "\n".join(writer.lines)
    inlined = " alwaysinline" if is_inlined else ""
    start = f'define internal void @"{symbol}"({arguments}){inlined} {{'
    return f"{start}\nentry:\n{head}\n  br label %start\nstart:\n{lines}\n}}\n"


_BY_THREAD: Final = """
define void @ep_run(ptr %thread) {
  %block = load ptr, ptr %thread
  %x = getelementptr i8, ptr %thread, i64 8
  %y = getelementptr i8, ptr %thread, i64 12
  %z = getelementptr i8, ptr %thread, i64 16
  %tx = load i32, ptr %x
  %ty = load i32, ptr %y
  %tz = load i32, ptr %z
  call void @ENTRY(ptr %block, ptr %thread, i32 %tx, i32 %ty, i32 %tz)
  ret void
}
"""
