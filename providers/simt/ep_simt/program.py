"""Programs: the source text that a kernel key needs, with its entries and their parameters, for any vendor's prelude.

One program holds all that its keys share as entries, because compilers take longer to begin than to compile a short one more; long
entries stand in files of their own, and are compiled apart. A vendor supplies the prelude's text and a function that compiles; see
README.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_simt.dialect import text
from ep_simt.elements import kind_of, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Entry", "Parameter", "Program", "access", "number", "storage", "struct", "taken", "tensor", "type_words"]

_DIALECT: Final = "dialect/dialect.h"
_CONVERTED: Final = frozenset({"bool", "f16", "bf16", "e4m3", "e5m2"})


class Parameter(NamedTuple):
    """One parameter of an entry.

    name    : in C
    kind    : "memory", which takes a handle; "number"; or "struct", which takes packed bytes
    type    : of a memory's elements or of a number, as called in C after `ep_`; the whole name of a struct
    nbytes  : of a struct, else 0
    """

    name: str
    kind: str
    type: str
    nbytes: int = 0

    @property
    def is_memory(self) -> bool:
        """True for a parameter that takes a handle."""
        return self.kind == "memory"


class Entry(NamedTuple):
    """One kernel of a program.

    name        : in C
    parameters  : in their order
    takes       : the macro that lists them in C
    writes      : names of the memories that it may write
    file        : of this package, whose entries are compiled apart from all others; "" if it is compiled with them
    is_brief    : True if it has so little to do that it may as well be slow, where that is compiled sooner
    """

    name: str
    parameters: tuple[Parameter, ...]
    takes: str = "EP_TAKES"
    writes: frozenset[str] = frozenset({"out"})
    file: str = ""
    is_brief: bool = False

    @property
    def declaration(self) -> str:
        """The macro's meaning: the parameters in the dialect."""
        return ", ".join(self._declared(parameter) for parameter in self.parameters)

    def _declared(self, parameter: Parameter) -> str:
        name, kind, type_, _ = parameter
        if kind == "struct":
            return f"EP_BY_VALUE({type_}) {name}"
        if kind == "number":
            return f"const ep_{type_} {name}"
        return f"EP_GLOBAL {'' if name in self.writes else 'const '}ep_{type_} *{name}"


class Program(NamedTuple):
    """One source text with all its entries; equal programs are one.

    name     : readable, for logs and for files
    words    : the files' settings, as macros and their meanings
    files    : of this package, after the dialect's own; those of entries follow
    entries  : the kernels
    """

    name: str
    words: tuple[tuple[str, object], ...]
    files: tuple[str, ...]
    entries: tuple[Entry, ...]

    def source(self, prelude: str) -> str:
        """Return the whole text for a compiler with this prelude; it includes nothing."""
        words = {**dict(self.words), **{entry.takes: entry.declaration for entry in self.entries}}
        defines = (f"#define {word} {meaning}".rstrip() for word, meaning in words.items())
        apart = dict.fromkeys(entry.file for entry in self.entries if entry.file)
        return "\n".join((*defines, prelude, *map(text, (_DIALECT, *self.files, *apart))))

    def of(self, entry: Entry) -> Program:
        """Return the program that is compiled for an entry: of all that are in its file, or in none."""
        entries = tuple(each for each in self.entries if each.file == entry.file)
        return self._replace(name=f"{self.name}-{entries[0].name}" if entry.file else self.name, entries=entries)

    def entry(self, name: str) -> Entry:
        """Return an entry by its name."""
        return next(entry for entry in self.entries if entry.name == name)


def tensor(name: str, element: str) -> tuple[Parameter, Parameter]:
    """Return the parameters of a tensor: its memory, and the place of its first element there, in elements."""
    return Parameter(name, "memory", element), number(f"{name}_at", "i64")


def number(name: str, element: str) -> Parameter:
    """Return the parameter of a number."""
    return Parameter(name, "number", element)


def struct(name: str, type_: str, nbytes: int) -> Parameter:
    """Return the parameter of a structure that is given by value."""
    return Parameter(name, "struct", type_, nbytes)


def access(name: str, element: str, compute: str = "") -> dict[str, object]:
    """Return the words that load and store an element of a tensor, a number of elements after its first.

    compute  : the type that loading gives and storing takes, if it is not that of the element
    """
    place = f"{name}[{name}_at + (i)]"
    if element == "c64":
        own = "c128" if compute == "c128" else "c64"
        return {
            f"EP_LOAD_{name}(i)": f"ep_{own}_of({place}.re, {place}.im)",
            f"EP_STORE_{name}(i, value)": f"EP_STORE_PARTS(ep_{own}, {place}, value)",
        }
    how = element if element in _CONVERTED else ""  # else it is computed with as it is stored
    return {
        f"EP_LOAD_{name}(i)": f"ep_loaded_{how}({place})" if how else f"({place})",
        f"EP_STORE_{name}(i, value)": f"({place} = {f'ep_stored_{how}(value)' if how else 'value'})",
    }


def storage(elements: Iterable[str]) -> tuple[str, ...]:
    """Return the files that load and store these elements, beside the dialect's own."""
    return ("dialect/float8.h",) if any(element in {"e4m3", "e5m2"} for element in elements) else ()


def type_words(compute: str) -> dict[str, object]:
    """Return the words that describe the compute type; of a type of the mathematics its texts define EP_OF."""
    kind, part = kind_of(compute), part_of(compute)
    own: dict[str, object] = {"EP_OF(name)": f"name##_{compute}"} if kind in {"BOOLEAN", "INTEGER"} else {}
    return {
        "EP_C": f"ep_{compute}",
        "EP_IS_SIGNED": int(compute[0] == "i"),
        "EP_FROM_FLOATS": int(part[0] == "f"),
        "EP_FROM_DOUBLES": int(part == "f64"),
        "EP_FROM_COMPLEX": int(kind == "COMPLEX"),
        **own,
    }


def taken(*parts: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Return the parameters of several parts, one after the other."""
    return tuple(parameter for part in parts for parameter in part)
