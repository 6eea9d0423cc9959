"""The statements of a body: scopes, labels, guards, branches, calls; everything else is a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_cuda_emulator.lowering.place import Place
from ep_cuda_emulator.lowering.rules import RULES, stranger_of
from ep_cuda_emulator.lowering.types import U32
from ep_cuda_emulator.ptx.instruction import Declaration, Group, Instruction, Label, Name, Scope
from ep_cuda_emulator.ptx.module import declared
from ep_cuda_emulator.ptx.words import PtxError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ep_cuda_emulator.lowering.writer import Writer
    from ep_cuda_emulator.ptx.module import Module

__all__ = ["write_body"]

_IGNORED: Final = {".loc", ".pragma", ".file", ".align", ".calltargets", ".callprototype"}
_OUTSIDE: Final = {"vprintf": "ep_print", "__assertfail": "ep_assert"}
"""Functions that CUDA's own device library declares, and the library's for them."""


def write_body(
    writer: Writer, statements: Iterable[Declaration | Label | Scope | Instruction], module: Module, *, is_entry: bool
) -> None:
    """Write all statements of a function. Raises PtxError."""
    targets: dict[str, tuple[str, ...]] = {}
    label = ""
    writer.declare_registers((".reg", ".pred", "%cc"))
    for statement in statements:
        writer.line = statement.line
        if isinstance(statement, Label):
            label = statement.name
            writer.label(f"at.{label}")
        elif isinstance(statement, Scope):
            (writer.open_scope if statement.is_open else writer.close_scope)()
        elif isinstance(statement, Declaration):
            if statement.words[0] == ".branchtargets":
                targets[label] = tuple(word for word in statement.words[1:] if word != ",")
            else:
                _declare(writer, statement)
        else:
            _guarded(writer, statement, module, targets, is_entry=is_entry)
    if writer.is_open:
        writer.end("ret void")


def _declare(writer: Writer, found: Declaration) -> None:
    word = found.words[0]
    if word == ".reg":
        writer.declare_registers(found.words)
    elif word in {".param", ".local"}:
        variable = declared(found.words, found.line)
        name = f'%"{writer.fresh(variable.name)}"'
        writer.head.append(f"  {name} = alloca [{variable.nbytes} x i8], align {max(variable.align, 8)}")
        writer.declare_place(variable.name, Place("argument" if word == ".param" else "local", name))
    elif word != ".shared" and word not in _IGNORED:
        raise PtxError(found.line, f"{word} is not emulated", is_supported=False)


def _guarded(
    writer: Writer, i: Instruction, module: Module, targets: dict[str, tuple[str, ...]], *, is_entry: bool
) -> None:
    verb = i.parts[0]
    if i.guard is None and verb not in {"bra", "brx"}:
        _plain(writer, i, module, is_entry=is_entry)
        return
    after = writer.fresh("after")
    if verb == "bra":
        target = i.operands[0]
        assert isinstance(target, Name)
        if i.guard is None:
            writer.end(f'br label %"at.{target.text}"')
        else:
            writer.end(f'br i1 {writer.predicate(i.guard)}, label %"at.{target.text}", label %"{after}"')
            writer.label(after)
        return
    if i.guard is not None:
        inside = writer.fresh("guarded")
        writer.end(f'br i1 {writer.predicate(i.guard)}, label %"{inside}", label %"{after}"')
        writer.label(inside)
    if verb == "brx":
        _branch_by_index(writer, i, targets)
    else:
        _plain(writer, i, module, is_entry=is_entry)
    if i.guard is not None:
        writer.label(after)


def _branch_by_index(writer: Writer, i: Instruction, targets: dict[str, tuple[str, ...]]) -> None:
    index, table = i.operands
    assert isinstance(table, Name)
    names = targets[table.text]
    cases = " ".join(f'i32 {place}, label %"at.{name}"' for place, name in enumerate(names))
    writer.end(f'switch i32 {writer.read(index, U32)}, label %"at.{names[-1]}" [ {cases} ]')


def _plain(writer: Writer, i: Instruction, module: Module, *, is_entry: bool) -> None:
    verb = i.parts[0]
    if verb == "ret" or (verb == "exit" and is_entry):
        writer.end("ret void")
    elif verb == "exit":
        raise writer.unsupported(i, "is emulated in entries, not in functions that they call")
    elif verb == "call":
        _call(writer, i, module)
    elif verb in RULES:
        _apply(writer, i)
    else:
        raise writer.unsupported(i)


def _apply(writer: Writer, i: Instruction) -> None:
    if stranger := stranger_of(i):
        raise writer.unsupported(i, f"is not emulated with .{stranger}")
    try:
        RULES[i.parts[0]](writer, i)
    except PtxError:
        raise
    except (IndexError, KeyError, StopIteration, ValueError) as error:  # operands or modifiers that no rule knows
        message = f"{i.text} is not understood with {len(i.operands)} operands"
        raise PtxError(i.line, message) from error


def _call(writer: Writer, i: Instruction, module: Module) -> None:
    operands = list(i.operands)
    results = operands.pop(0).items if isinstance(operands[0], Group) else ()  # type: ignore[union-attr]
    target = operands.pop(0)
    given = operands[0].items if operands and isinstance(operands[0], Group) else ()
    if not isinstance(target, Name) or target.text not in module.functions:
        raise writer.unsupported(i, "through a pointer is not emulated")
    pointers = [f"ptr {writer.place(each.text).where}" for each in (*results, *given) if isinstance(each, Name)]
    if target.text in _OUTSIDE:
        writer.runtime(_OUTSIDE[target.text], "void", *writer.self_arguments, *pointers, f"i32 {i.line}")
    elif not module.functions[target.text].body:
        raise writer.unsupported(i, f"of {target.text}, which the program only declares, is not emulated")
    else:
        writer.emit(f'call void @"ptx.{target.text}"({", ".join((*writer.self_arguments, *pointers))})')
