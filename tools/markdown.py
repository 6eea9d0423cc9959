"""Docstrings and rows as Markdown: what family_documents and family_matrix share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives.elementwise.op import ALL, COMPLEXES, EVERY, FLOATS, INTEGERS, NUMBERS, REALS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
COLUMNS: Final = ("definition", "dtypes", "out", "accuracy", "why", "domain", "special", "attributes", "source", "note")


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


class Row(NamedTuple):
    """One op of a family: its row, and the element types of the input and the output of its cells."""

    op: str
    row: Any
    dtypes: Sequence[tuple[str, str]]

    @property
    def inputs(self) -> Sequence[str]:
        """The element types of the input."""
        return tuple(dict.fromkeys(given for given, _ in self.dtypes))

    def cell(self, column: str) -> str:
        """Return what stands in a column, "" for nothing."""
        match column:
            case "op":
                return self.op
            case "dtypes":
                return dtypes_text(self.inputs)
            case "out":
                return self._out()
            case "accuracy":
                return self._promise(str)
            case "why":
                return self._promise(lambda accuracy: "" if accuracy.why == self.row.source else escaped(accuracy.why))
            case "domain":
                return ", ".join(dict.fromkeys(_domain(domain) for domain in getattr(self.row, "domain", ())))
            case "attributes":
                return ", ".join(map(_attribute, getattr(self.row, "attributes", ())))
            case _:
                return escaped(str(getattr(self.row, column, "")))

    def _out(self) -> str:
        """Return the element types of the output where they are not those of the input: `bool` or `int8 -> int64`."""
        made = {given: tuple(out for other, out in self.dtypes if other == given) for given in self.inputs}
        if len(set(made.values())) == 1 and len(made) > 1:
            return ", ".join(next(iter(made.values())))
        into: dict[str, list[str]] = {}
        for given, out in self.dtypes:
            into.setdefault("" if out == given else out, []).append(given)
        if len(into) == 1:
            return next(iter(into))
        return "; ".join(f"{dtypes_text(given)} -> {out or 'same'}" for out, given in into.items())

    def _promise(self, of: Callable[[Any], str]) -> str:
        """Return `4 ulp; 1 ulp for float16, bfloat16`, the most usual promise first; "" if the row makes none.

        of : what is said of each accuracy; a row whose bound depends on the number of terms has its own words
        """
        accuracy = getattr(self.row, "accuracy", "")
        if isinstance(accuracy, str):
            return escaped(accuracy) if of is str else ""
        promises: dict[str, list[str]] = {}
        for dtype in self.inputs:
            promises.setdefault(of(self.row.accuracy_of(dtype)), []).append(dtype)
        usual = of(self.row.accuracy_of("float32")) if "float32" in self.inputs else next(iter(promises))
        rest = [f"{promise} for {dtypes_text(given)}" for promise, given in promises.items() if promise != usual]
        return "; ".join([usual, *rest])


def _attribute(attribute: Any) -> str:
    return attribute.name if attribute.default is None else f"{attribute.name} = {attribute.default:g}"


def _domain(domain: Any) -> str:
    """Return a domain's name, and why it is narrowed."""
    return escaped(domain.name if domain.is_open else f"{domain.name} alone ({domain.why})")


def row_table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the table of the rows, with the columns that any of them fills."""
    columns = ["op", *(column for column in COLUMNS if any(row.cell(column) for row in rows))]
    yield from table(columns, ([row.cell(column) for column in columns] for row in rows))
