"""Write docs/reports/matrix.md, family x element type x layout, from a report of `ep-conformance run --json`.

Each place says how many cases passed and, where the accuracy is not exact, the worst error over its bound. `--check` lists
the places that the installed families have and the document has not, and what did not pass when it was made.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from ep.layout.cells import LAYOUTS
from ep_conformance.plan.place import Place

import ep
from ep_tools.findings import Findings
from ep_tools.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOM: Final = "ep_primitives"
MOST_LINES: Final = 40
BEYOND: Final = 1e300
HEAD: Final = """# Matrix

What the conformance suite found on the CPU: family x element types x layout. Each place says `cases`, or `cases / margin` where
the accuracy is not exact: how many cases passed, and the worst error of theirs over its bound, so that 1.00 just passes; 0.00 is
no error, or one below a half percent. What did not pass stands behind its number. A dash: the suite has no such case. All ops of
a family are in one table. Element types are those of the inputs, and `->` that of the output where it is another; a layout is
how the operands lie in memory. [Families](../families/README.md) says what each family means and what its edge rules are.

Provider {provider} {version} ({driver}, threads a case: {units}) on {model}; suite {suite}, profile {profile}, seed
{seed}: {expected} cases expected, {passed} passed; {cells} cells. The cases `runtime/...` are not shown. To measure again: `make matrix`.

"""
GATHERED: Final = "\nOne line an input type, with all output types together.\n"


@dataclass
class Tally:
    """What the cases of one place of the matrix showed."""

    passed: int = 0
    failed: int = 0
    refused: int = 0
    margin: float | None = None
    bias: float | None = None
    at: str = ""

    def see(self, case: Mapping[str, Any]) -> None:
        """Count a case. What the provider declares unsupported, or the suite new, is refused, all but a pass failed."""
        status = case["status"]
        if status in {"unsupported", "new"}:
            self.refused += 1
            return
        if status != "pass":
            self.failed += 1
            return
        self.passed += 1
        margin, bias = case["margin"], case.get("bias")
        if margin is not None and (self.margin is None or margin > self.margin):
            self.margin, self.at = margin, case["id"]
        if bias is not None:
            self.bias = max(bias, self.bias or 0.0)

    def __str__(self) -> str:
        words = []
        if self.passed:
            words.append(str(self.passed) if self.margin is None else f"{self.passed} / {figure(self.margin)}")
        words += [f"**{self.failed} not passed**"] if self.failed else []
        words += [f"{self.refused} unsupported"] if self.refused else []
        return ", ".join(words) or "-"


def figure(number: float | None) -> str:
    """Return a margin or bias in two decimals."""
    if number is None:
        return "-"
    return "infinite" if number > BEYOND else f"{number:.2f}"


def tallies(cases: Iterable[Mapping[str, Any]]) -> dict[str, dict[tuple[str, str], Tally]]:
    """Return by family what each (dtypes, layout) showed, and ("", "") the family."""
    found: dict[str, dict[tuple[str, str], Tally]] = {}
    for case in cases:
        place = Place.of(case["id"])
        if not place.is_cell:
            continue
        places = found.setdefault(place.family, {})
        for key in ((place.dtypes, place.layout), ("", "")):
            places.setdefault(key, Tally()).see(case)
    return found


def is_long(places: Mapping[tuple[str, str], Tally]) -> bool:
    """Say whether there are too many lines, and fewer with all outputs of an input type in one."""
    names = {dtypes for dtypes, _ in places} - {""}
    return len(names) > MOST_LINES > len({name.partition("->")[0] for name in names})


def gathered(places: Mapping[tuple[str, str], Tally]) -> dict[tuple[str, str], Tally]:
    """Return the places with all outputs of an input type in one line."""
    found: dict[tuple[str, str], Tally] = {}
    for (dtypes, layout), each in places.items():
        given = dtypes.partition("->")[0]
        into = found.setdefault((given and f"{given}->any", layout), Tally())
        into.passed += each.passed
        into.failed += each.failed
        into.refused += each.refused
        if each.margin is not None:
            into.margin = max(each.margin, into.margin or 0.0)
    return found


def overview(found: Mapping[str, Mapping[tuple[str, str], Tally]]) -> Iterator[str]:
    """Yield the table of all families."""
    lines = []
    for family, places in found.items():
        whole = places["", ""]
        dtypes = {dtypes for dtypes, _ in places} - {""}
        worst = "exact" if whole.passed else "-"
        if whole.at:
            worst = f"{figure(whole.margin)}: {whole.at.removeprefix(f'primitives/{family}/')}"
        counts = (whole.passed, whole.failed, whole.refused)
        lines.append((f"[{family}](../families/{family}.md)", len(dtypes), *counts, worst, figure(whole.bias)))
    heads = (
        "family",
        "element types",
        "passed",
        "not passed",
        "unsupported",
        "worst margin and its case",
        "worst bias",
    )
    yield from table(heads, lines)


def matrix(places: Mapping[tuple[str, str], Tally]) -> Iterator[str]:
    """Yield the table of one family."""
    used = {layout for _, layout in places} - {""}
    layouts = [*(layout for layout in LAYOUTS if layout in used), *sorted(used - set(LAYOUTS))]
    names = [name for name in dict.fromkeys(name for name, _ in places) if name]
    cells = ((name, *(str(places.get((name, layout), "-")) for layout in layouts)) for name in names)
    yield from table(("element types", *layouts), cells)


def document(report: Mapping[str, Any]) -> str:
    """Return docs/reports/matrix.md. Raises KeyError for what is no report, ValueError for a run that has not ended."""
    if report["interrupted"]:
        message = "the run was interrupted, so that what did not run would read as failures"
        raise ValueError(message)
    device, summary = report["device"], report["summary"]
    about = {"provider": report["provider"]["name"], "version": report["provider"]["version"]}
    about |= {name: report[name] for name in ("suite", "profile", "seed")}
    about |= {"model": device["model"], "driver": device["driver"], "units": device["compute_units"]}
    found = tallies(report["cases"])
    cells = len({case["id"].rpartition("/")[0] for case in report["cases"] if case["id"].startswith("primitives/")})
    head = HEAD.format(**about, expected=summary["expected"], passed=summary["pass"], cells=cells)
    text = [head, *(f"{line}\n" for line in overview(found))]
    for family, places in found.items():
        text.append(f"\n## {family}\n{GATHERED if is_long(places) else ''}\n")
        text += (f"{line}\n" for line in matrix(gathered(places) if is_long(places) else places))
    return "".join(text)


def shown(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield family, element types, layout and words of each place of a document that is not a dash."""
    for section in text.split("\n## ")[1:]:
        lines = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"
        ]
        heads, rows = (lines[0], lines[2:]) if lines else ([], [])
        for dtypes, *places in rows:
            for layout, words in zip(heads[1:], places, strict=True):
                if words != "-":
                    yield section.partition("\n")[0], dtypes, layout, words


def problems(text: str) -> Iterator[str]:
    """Yield what a document lacks: a place that an installed family has, a pass where a case did not."""
    found = {(family, dtypes, layout): words for family, dtypes, layout, words in shown(text)}
    for family in ep.families().values():
        if not family.descriptor.__module__.startswith(f"{ROOM}."):
            continue
        places = (
            gathered if is_long(cells := {(cell.dtypes, cell.layout): Tally() for cell in family.cells()}) else dict
        )
        for place in places(cells):
            if (family.name, *place) not in found:
                yield f"{'/'.join((family.name, *place))} is missing"
    yield from (f"{'/'.join(place)} says {words}" for place, words in found.items() if "not passed" in words)


@click.command()
@click.argument("report", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--check", is_flag=True, help="Take a document in place of a report, and list what it lacks.")
def command(report: Path, *, check: bool) -> None:
    """Print docs/reports/matrix.md as the JSON REPORT of a run has it."""
    try:
        text = report.read_text(encoding="utf-8")
        if not check:
            click.echo(document(json.loads(text)), nl=False)
        elif wrong := [*problems(text)]:
            raise Findings(f"{line}; run `make matrix`" for line in wrong)
    except (ValueError, KeyError, TypeError) as error:
        message = f"{report}: {error!r}; give a file of `ep-conformance run --json` that ran to its end"
        raise click.ClickException(message) from error
