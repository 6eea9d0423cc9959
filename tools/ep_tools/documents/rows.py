"""The rows of a family as a table: what each op promises, element types by the names of their groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ep_primitives.elementwise.op import ALL, COMPLEXES, EVERY, FLOATS, INTEGERS, NUMBERS, REALS

from ep_tools.markdown import escaped, table

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
COLUMNS: Final = ("definition", "dtypes", "out", "accuracy", "why", "domain", "special", "attributes", "source", "note")


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
