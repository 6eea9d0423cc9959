"""Docstrings and rows as Markdown: what family_documents and family_matrix share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives.op import ALL, COMPLEXES, EVERY, FLOATS, INTEGERS, NUMBERS, REALS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

GROUPS: Final[Mapping[str, Sequence[str]]] = {
    "every": EVERY,
    "all": ALL,
    "numbers": NUMBERS,
    "reals": REALS,
    "integers": INTEGERS,
    "floats": FLOATS,
    "complex": COMPLEXES,
}
RULE: Final = re.compile(r"(\w[\w, ]*?) +: (.*)")
SEPARATOR: Final = r"\|"
COLUMNS: Final = ("definition", "dtypes", "out", "accuracy", "domain", "special", "attributes", "source", "note")


class Text(NamedTuple):
    """A docstring taken apart: its first sentence, its lines `name : text`, and the paragraphs of the rest."""

    lead: str
    rules: Mapping[str, str]
    rest: Sequence[str]


def parse(doc: str) -> Text:
    """Take a docstring apart."""
    lead, *blocks = re.split(r"\n\s*\n", doc.strip())
    rules: dict[str, str] = {}
    rest = []
    for block in blocks:
        name = ""
        plain = []
        for line in block.splitlines():
            if found := RULE.fullmatch(line):
                name = found[1]
                rules[name] = escaped(found[2])
            elif name and line.startswith(" "):
                rules[name] += f" {escaped(line.strip())}"
            else:
                plain.append(line.strip())
        rest += [escaped(" ".join(plain))] if plain else []
    return Text(escaped(" ".join(lead.split())), rules, rest)


def escaped(text: str) -> str:
    """Return text in which Markdown sees nothing but text, and code between backticks."""
    words = text.replace("\\", "\\\\").split("`")
    words[::2] = [re.sub(r"(\*|<(?=[A-Za-z/!]))", r"\\\1", word) for word in words[::2]]
    return "`".join(words)


def table(heads: Sequence[str], lines: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Yield a table."""
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for line in lines:
        yield f"| {' | '.join(str(cell).replace('|', SEPARATOR) for cell in line)} |"


def dtypes_text(dtypes: Iterable[str]) -> str:
    """Return element types in words, groups of them by the name of the group."""
    left = dict.fromkeys(dtypes)
    words = []
    for name, group in GROUPS.items():
        if set(group) <= set(left):
            words.append(name)
            left = {dtype: None for dtype in left if dtype not in group}
    return ", ".join([*left, *words])


def row_columns(rows: Iterable[Any]) -> tuple[str, ...]:
    """Return the op's name and the columns that any of the rows fills."""
    found = {column for row in rows for column in COLUMNS if _column(row, column)}
    return "op", *(column for column in COLUMNS if column in found)


def row_cells(name: str, row: Any, columns: Sequence[str]) -> tuple[str, ...]:
    """Return one line of the table of rows."""
    return name, *(_column(row, column) for column in columns[1:])


def _column(row: Any, column: str) -> str:
    match column:
        case "dtypes":
            return dtypes_text(_dtypes(row))
        case "out":
            return _out(row)
        case "accuracy":
            return _accuracy(row)
        case "domain":
            return ", ".join(dict.fromkeys(domain.name for domain in getattr(row, "domain", ())))
        case "attributes":
            return ", ".join(attribute.name for attribute in getattr(row, "attributes", ()))
        case _:
            return escaped(str(getattr(row, column, "")))


def _dtypes(row: Any) -> Sequence[str]:
    return tuple(row.dtypes if hasattr(row, "dtypes") else row.outs)


def _out(row: Any) -> str:
    """Return the element types of the output where they are not those of the input: `bool` or `int8 -> int64`."""
    outs = getattr(row, "outs", None)
    if outs is None:
        return str(getattr(row, "out", ""))
    into: dict[str, list[str]] = {}
    for dtype, made in outs.items():
        for out in made:
            into.setdefault("" if out == dtype else out, []).append(dtype)
    return "; ".join(f"{dtypes_text(given)} -> {out or 'same'}" for out, given in into.items())


def _accuracy(row: Any) -> str:
    """Return `4 ulp; 1 ulp for float16, bfloat16`, the most frequent promise first."""
    if isinstance(row.accuracy, str):
        return row.accuracy
    promises: dict[str, list[str]] = {}
    for dtype in _dtypes(row):
        promises.setdefault(str(row.accuracy_of(dtype)), []).append(dtype)
    usual = str(row.accuracy_of("float32")) if "float32" in _dtypes(row) else next(iter(promises))
    rest = [f"{promise} for {dtypes_text(given)}" for promise, given in promises.items() if promise != usual]
    return "; ".join([usual, *rest])
