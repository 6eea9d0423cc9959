"""Programs for PoCL 3, which copies a kernel into two functions that call it, and optimises all three.

So an entry's body becomes a function of its own, which is compiled once, and its kernel a call of it. Such a function may not ask for
the number of its group, which is its first argument, nor have memory that a group shares, which is its own where the group is a
single work-item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import ep_simt

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["alone", "is_alone"]

_BRIEF: Final = "__attribute__((cold)) "
"""LLVM is done with such a function sooner, whose loops then take two to four times as long."""
_NUMBER: Final = ep_simt.Parameter("ep_group", "number", "i64")


def is_alone(program: ep_simt.Program) -> bool:
    """Say whether a program's groups are single work-items on a CPU: those that share memory say how many they are."""
    return dict(program.words).get("EP_GROUP", 1) == 1


def alone(program: ep_simt.Program, prelude: str) -> str:
    """Return the text of such a program, in which the prelude finds EP_ALONE."""
    bodies = program._replace(
        words=(*program.words, ("EP_ALONE", 1)),
        entries=tuple(entry._replace(parameters=(_NUMBER, *entry.parameters)) for entry in program.entries),
    )
    renamed = (
        f"#define {entry.name} {_BRIEF if entry.is_brief else ''}{entry.name}_alone" for entry in program.entries
    )
    return "\n".join((*renamed, bodies.source(prelude), *_kernels(program.entries)))


def _kernels(entries: Iterable[ep_simt.Entry]) -> Iterable[str]:
    for entry in entries:
        arguments = ", ".join(("get_group_id(0)", *(parameter.name for parameter in entry.parameters)))
        yield f"#undef {entry.name}"
        yield f"__kernel void {entry.name}({entry.declaration}) {{ {entry.name}_alone({arguments}); }}"
