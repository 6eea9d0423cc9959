"""Write docs/matrix.md, family x element type x layout, from a report of `ep-conformance run --json`.

    python tools/family_matrix.py report.json > docs/matrix.md

Each cell says how many cases passed and, where the accuracy is not exact, the worst error over its bound.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

sys.path.insert(0, str(Path(__file__).parent))
from markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LAYOUTS: Final = (
    "dense",
    "strided",
    "broadcast",
    "scalar-left",
    "scalar-right",
    "inplace",
    "offset",
    "empty",
    "rank0",
)
PARTS: Final = 6
MOST_LINES: Final = 40
BEYOND: Final = 1e300
HEAD: Final = """# Matrix

Each cell is `cases`, or `cases / margin` where the accuracy is not exact: how many cases passed, and their worst error over its
bound, so that 1 would just pass. What did not pass stands behind its number. A dash: no such case in this profile.

Provider {provider} {version} on {model}, suite {suite}, profile {profile}, seed {seed}. To measure again: `make matrix`.

"""


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
        words = [str(self.passed)] if self.passed else []
        if self.margin is not None:
            words[0] += f" / {figure(self.margin)}"
        words += [f"**{self.failed} failed**"] if self.failed else []
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
        parts = case["id"].split("/")
        if len(parts) != PARTS or parts[0] != "primitives":
            continue
        _, family, _, dtypes, layout, _ = parts
        places = found.setdefault(family, {})
        for place in ((dtypes, layout), ("", "")):
            places.setdefault(place, Tally()).see(case)
    return found


def gathered(places: Mapping[tuple[str, str], Tally]) -> dict[tuple[str, str], Tally]:
    """Return the places with all outputs of an input type in one line, if there were too many lines."""
    if len({dtypes for dtypes, _ in places}) <= MOST_LINES:
        return dict(places)
    found: dict[tuple[str, str], Tally] = {}
    for (dtypes, layout), each in places.items():
        given = dtypes.partition("->")[0]
        into = found.setdefault((f"{given} to any" if dtypes else "", layout), Tally())
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
        worst = f"{figure(whole.margin)}: {whole.at.removeprefix(f'primitives/{family}/')}" if whole.at else "exact"
        counts = (whole.passed, whole.failed, whole.refused)
        lines.append((f"[{family}](families/{family}.md)", len(dtypes), *counts, worst, figure(whole.bias)))
    heads = ("family", "element types", "passed", "failed", "unsupported", "worst margin", "worst bias")
    yield from table(heads, lines)


def matrix(places: Mapping[tuple[str, str], Tally]) -> Iterator[str]:
    """Yield the table of one family."""
    lines = gathered(places)
    used = {layout for _, layout in lines} - {""}
    layouts = [*(layout for layout in LAYOUTS if layout in used), *sorted(used - set(LAYOUTS))]
    names = [name for name in dict.fromkeys(name for name, _ in lines) if name]
    cells = ((name, *(str(lines.get((name, layout), "-")) for layout in layouts)) for name in names)
    yield from table(("element types", *layouts), cells)


def document(report: Mapping[str, Any]) -> str:
    """Return docs/matrix.md. Raises KeyError for what is no report."""
    about = {"provider": report["provider"]["name"], "version": report["provider"]["version"]}
    about |= {"model": report["device"]["model"], **{name: report[name] for name in ("suite", "profile", "seed")}}
    found = tallies(report["cases"])
    text = [HEAD.format(**about), *(f"{line}\n" for line in overview(found))]
    for family, places in found.items():
        text.append(f"\n## {family}\n\n")
        text += (f"{line}\n" for line in matrix(places))
    return "".join(text)


def main() -> int:
    """Print the document; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("report", type=Path, help="JSON report of a run")
    try:
        sys.stdout.write(document(json.loads(parser.parse_args().report.read_text(encoding="utf-8"))))
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"family_matrix: {error!r}; give it a file of `ep-conformance run --json`\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
