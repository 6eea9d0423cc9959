"""Write docs/families: a document a family, and an index with every edge rule in one table.

All of it comes from the families: the docstrings of their modules and descriptors, their rows, cells and cases.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import click
from ep.layout.role import OUTPUT, STATE
from ep_conformance.plan.accuracies import held_to
from ep_primitives.judging.edges import edge_rules

import ep
from ep_tools.documents.rows import Row, dtypes_text, row_table
from ep_tools.findings import Findings
from ep_tools.folders import ROOT
from ep_tools.markdown import Text, escaped, parse, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep_primitives import Accuracy

FOLDER: Final = ROOT / "docs" / "families"
ROOM: Final = "ep_primitives"
REQUIRED: Final = (
    "shapes",
    "dtypes",
    "accumulation",
    "NaN",
    "infinities",
    "signed zero",
    "empty",
    "determinism",
    "in place",
)
EDGES: Final = ("NaN", "infinities", "ties", "signed zero", "empty", "in place", "determinism", "accumulation")
MOST_LINES: Final = 32
HEAD: Final = """# Families

What each family of operations means. These documents are made by `make documents` from the docstrings, rows and cases that the
suite judges by; `python tools families --check` is a test.

*integers* are {integers}; *floats* {floats}; *complex* {complex};
*reals* integers and floats; *numbers* reals and complex; *all* numbers and bool; *every* all and {rest}.
"""
EDGE_HEAD: Final = """
## Edge rules

What happens at each edge, and cases of the suite that fail where it does not: `ep-conformance run --provider NAME --filter
'*CASE'`. They stand for those of the other element types and layouts. What is a ValueError without a launch is EP's own, and
tried by its tests alone, whatever the provider.
"""
GROUPS_TEXT: Final = {
    "integers": "int8 to int64 and uint8 to uint64",
    "floats": "float16, bfloat16, float32, float64",
    "complex": "complex64, complex128",
    "rest": "float8_e4m3fn, float8_e5m2",
}


class Document:
    """What the document of one family is made of."""

    def __init__(self, family: ep.Family) -> None:
        self.family = family
        self.kind = family.descriptor
        module = inspect.getmodule(self.kind)
        self.meaning: Text = parse(inspect.getdoc(module) or "")
        self.text: Text = parse(inspect.getdoc(self.kind) or "")
        self.rows: Mapping[str, Any] = getattr(family, "rows", {})

    @property
    def name(self) -> str:
        """The family's name, that of the file."""
        return self.family.name

    @property
    def lead(self) -> str:
        """The sentence that says what the family is."""
        return re.sub(r"^Famil(y|ies) [\w ]+: ", "", self.meaning.lead)

    @cached_property
    def cells(self) -> list[ep.Cell]:
        """The family's cells."""
        return [*self.family.cells()]

    @cached_property
    def counts(self) -> dict[str, Counter[str]]:
        """By layout and, under "", in all: how many cells, and cases by profile."""
        found: dict[str, Counter[str]] = {}
        for cell in self.cells:
            for place in (cell.layout, ""):
                counts = found.setdefault(place, Counter())
                counts["cells"] += 1
                counts.update(case.profile for case in self.family.cases(cell))
        return found

    @cached_property
    def lowered(self) -> str:
        """The families that it lowers to, "" for none."""
        return ", ".join(sorted(set().union(*(_lowered(self.family.sample(cell)) for cell in self.cells))))

    def missing(self) -> Iterator[str]:
        """Yield what the document lacks, a sentence each."""
        place = inspect.getmodule(self.kind)
        for rule in REQUIRED:
            if rule not in self.meaning.rules:
                yield f"{self.name}: the docstring of {place.__name__ if place else '?'} has no line '{rule} : ...'"
        described = {name for names in self.text.rules for name in re.split(r", *", names)}
        operands = {name for cell in self.cells for name in self.family.sample(cell).operands}
        for operand in sorted(operands):
            if operand.rstrip("0123456789") not in {name.rstrip("0123456789") for name in described}:
                yield f"{self.name}: the docstring of {self.kind.__name__} does not describe its operand {operand}"
        for op in {cell.op for cell in self.cells} - {"-", *self.rows}:
            yield f"{self.name}: {op} has no row in {type(self.family).__name__}.rows"
        for op, row in self.rows.items():
            for part in ("definition", "source"):
                if not getattr(row, part, ""):
                    yield f"{self.name}: row {op} has no {part}"

    def lines(self) -> Iterator[str]:
        """Yield the document."""
        yield f"# {self.kind.__name__}"
        yield f"\nFamily `{self.name}`: {self.lead}\n"
        yield from table(("rule", ""), self.meaning.rules.items())
        yield from (f"\n{paragraph}" for paragraph in self.meaning.rest)
        yield "\n## Descriptor\n\n```python"
        yield _signature(self.kind.__name__, self.kind.__init__)
        if (infer := getattr(self.kind, "infer", None)) is not None:
            yield _signature(f"{self.kind.__name__}.infer", infer)
        yield f"```\n\n{self.text.lead}\n"
        yield from table(("argument", ""), self.text.rules.items())
        yield from (f"\n{paragraph}" for paragraph in self.text.rest)
        yield from self._facts()
        yield "\n## Cells and cases\n"
        yield from self._counts()
        if self.rows:
            yield "\n## Rows\n"
            yield from row_table([Row(op, row, self._dtypes_of(op)) for op, row in self.rows.items()])

    def _dtypes_of(self, op: str) -> list[tuple[str, str]]:
        """Return the element types of an op's input and output."""
        pairs = (cell.dtypes.partition("->") for cell in self.cells if cell.op == op)
        return [*dict.fromkeys((given, out or given) for given, _, out in pairs)]

    def _facts(self) -> Iterator[str]:
        samples = [self.family.sample(cell) for cell in self.cells]
        roles = {role: None for each in samples for role in each.roles}
        outputs = dict.fromkeys(role.name for role in roles if role.use == OUTPUT)
        yield ""
        for output in outputs:
            shared = ", ".join(
                f"`{name}`" for name in dict.fromkeys(role.name for role in roles if output in role.shares)
            )
            what = "Output" if len(outputs) == 1 else f"Output `{output}`"
            yield f"- {what} in the memory of: {shared or 'no input'}."
        states = dict.fromkeys(role.name for role in roles if role.use == STATE)
        if states:
            yield f"- Read and written: {', '.join(f'`{name}`' for name in states)}."
        absent = dict.fromkeys(role.name for role in roles if role.is_optional)
        if absent:
            yield f"- May be absent: {', '.join(f'`{name}`' for name in absent)}."
        defaults = {name: value for each in samples for name, value in each.roles.defaults.items()}
        if defaults:
            numbers = ", ".join(f"`{name}` = {value}" for name, value in defaults.items())
            yield f"- Numbers that a launch may leave out: {numbers}."
        if self.lowered:
            yield f"- Lowers to: {self.lowered}."

    def _counts(self) -> Iterator[str]:
        profiles = ("quick", "standard", "large")
        order = sorted(self.counts, key=lambda layout: (not layout, [*self.counts].index(layout)))
        counts = ((layout or "in all", self.counts[layout]) for layout in order)
        yield from table(
            ("layout", "cells", *(f"{profile} cases" for profile in profiles)),
            ((name, count["cells"], *(count[profile] for profile in profiles)) for name, count in counts),
        )
        typical = {(cell.op, cell.dtypes): cell for cell in reversed(self.cells)}
        if self.rows:
            return
        promises = {
            f"{cell.dtypes} {output}".rstrip(): promise
            for cell in reversed(typical.values())
            for output, promise in self._promises(cell).items()
        }
        accuracies = {dtypes: str(promise) for dtypes, promise in promises.items()}
        if len(accuracies) <= MOST_LINES and len(set(accuracies.values())) > 1:
            yield ""
            yield from table(("dtypes", "accuracy of the first case"), accuracies.items())
            reasons = {
                promise.why: [name for name, each in promises.items() if each.why == promise.why]
                for promise in promises.values()
            }
            yield "\nWhy: " + ". ".join(f"{dtypes_text(names)}: {escaped(why)}" for why, names in reasons.items()) + "."
            return
        named = dtypes_text(accuracies) if len(accuracies) <= MOST_LINES else f"{len(accuracies)} combinations"
        stated = "; ".join(dict.fromkeys(f"{promise}: {escaped(promise.why)}" for promise in promises.values()))
        yield f"\nElement types: {named}. Accuracy: {stated}."

    def _promises(self, cell: ep.Cell) -> dict[str, Accuracy]:
        sample = self.family.sample(cell)
        return held_to(sample, self.family.accuracy(sample))


def _lowered(descriptor: ep.Descriptor) -> Iterator[str]:
    """Yield the families of a descriptor's stages, and those of the stages of one that is of none."""
    for stage in descriptor.lower():
        if stage.descriptor.family in ep.families():
            yield stage.descriptor.family
        else:
            yield from _lowered(stage.descriptor)


def _signature(name: str, function: Any) -> str:
    """Return how something is called, without annotations and self."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]
    return f"{name}{inspect.Signature(parameters)}"


def documents() -> dict[str, Document]:
    """Return what there is to write about each family of our own, in the order of its installation."""
    found = ep.families().items()
    return {name: Document(family) for name, family in found if family.descriptor.__module__.startswith(f"{ROOM}.")}


def index(found: Mapping[str, Document]) -> Iterator[str]:
    """Yield the lines of the index: the families, then every edge rule."""
    yield HEAD.format(**GROUPS_TEXT)
    heads = ("family", "what it is", "cells", "quick cases", "all cases", "lowers to")
    lines = []
    for each in found.values():
        count = each.counts[""]
        cases = sum(count.values()) - count["cells"]
        link = f"[{each.kind.__name__}]({each.name}.md)"
        lines.append((link, each.lead, count["cells"], count["quick"], cases, each.lowered or "-"))
    yield from table(heads, lines)
    yield EDGE_HEAD
    proven, edge = [], ""
    for rule in edge_rules():
        named = "" if rule.edge == edge else rule.edge
        edge = rule.edge
        proven.append((named, *rule[1:3], ", ".join(f"`{case.removeprefix('primitives/')}`" for case in rule.cases)))
    yield from table(("edge", "families", "what happens", "proven by"), proven)
    yield "\n## Rules by family\n"
    rules = ((f"`{each.name}`", *(each.meaning.rules.get(edge, "-") for edge in EDGES)) for each in found.values())
    yield from table(("family", *EDGES), rules)


def written() -> dict[str, str]:
    """Return every file's text by its name."""
    found = documents()
    files = {f"{name}.md": "\n".join(each.lines()) + "\n" for name, each in found.items()}
    return files | {"README.md": "\n".join(index(found)) + "\n"}


def problems() -> Iterator[str]:
    """Yield what is missing in the families, and which documents are missing, stale or of no family."""
    for each in documents().values():
        yield from each.missing()
    files = written()
    for name, text in files.items():
        path = FOLDER / name
        if not path.exists():
            yield f"docs/families/{name} is missing; `make documents` writes it"
        elif path.read_text(encoding="utf-8") != text:
            yield f"docs/families/{name} is stale; `make documents` writes it anew"
    for path in sorted(FOLDER.glob("*.md")):
        if path.name not in files:
            yield f"docs/families/{path.name} is of no family; remove it"


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; say what is missing or stale, and exit 1 if anything is.")
def command(*, check: bool) -> None:
    """Write docs/families."""
    if check:
        if found := [*problems()]:
            raise Findings(found)
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in written().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
