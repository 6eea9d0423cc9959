"""Write docs/reports/accuracy.md from reports of `ep-conformance run --json`: what each row promises, and the worst error found.

The reports are of one provider and one device. Of each row and element type the largest error over its bound counts, among
the cases that know the truth best: the table or all float32, where there is such a case, else all cases. Of a row with
attributes all cases count, because a table has one set of them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from ep_primitives import BINARY_OPS, UNARY_OPS
from ep_primitives.judging.accuracy import Accuracy, Conditioned, Exact, Ulps

from ep_tools.documents.rows import Row
from ep_tools.markdown import SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ep_primitives import Op

DTYPES: Final = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
FAMILIES: Final[Mapping[str, Mapping[str, Op]]] = {"elementwise_unary": UNARY_OPS, "broadcast_binary": BINARY_OPS}
TITLES: Final = {"elementwise_unary": "Unary ops", "broadcast_binary": "Binary ops"}
SLICES: Final = 64

HEAD: Final = """# Accuracy

Each cell is `worst / promised`, in units in the last place of the result (ulp) as Khronos counts them; complex results in ulps
of |z|. 0.00 is the correctly rounded result in every case, `exact` the same by the row's promise. `0.4 of 4 eps S` stands for
0.4 times the bound of a function with roots: 4 eps times the sum of the sizes of its terms, and half an ulp of the result,
which is nearly all of it for the 16-bit types. A dash: the op has no such type. The last column says where the promise comes
from; in ulps the 16-bit types are held to 1, which is float32's result rounded once.

- float16 and bfloat16, unary: all 65,536 inputs. Binary: designed and random pairs.
- float32, unary: {float32}. Binary: designed and random pairs.
- float64 and complex128: the committed tables of mpmath's values, at least 2,000 points an op, hard ones among them. Half an ulp
  of each figure stands for what a table of float64 numbers cannot say.
- complex64: designed and random data against complex128.
- Rows with attributes: all cases, each with attributes of its own, extremes among them; of all float32 every 2^15 take others.

Measured on {model} by provider {provider} {version}, suite {suite}. To measure again: `make accuracy`.
"""


@dataclass(frozen=True)
class Found:
    """The worst of a row in one element type: error over bound, that error in ulps, and where.

    is_best : True if it is of a table or of all float32, so that no other case knows the truth better
    """

    is_best: bool = False
    margin: float = 0.0
    error: float = 0.0
    at: str = ""


@dataclass
class Reports:
    """What the reports hold: the worst of each (family, op, dtype), and the slices that were swept of each op."""

    device: dict[str, Any]
    worst: dict[tuple[str, str, str], Found]
    swept: dict[str, int]


def read(files: Iterable[Path]) -> Reports:
    """Return what the reports say. Raises ValueError if a case of them did not pass."""
    found = Reports({}, {}, {})
    for file in files:
        table = json.loads(file.read_text(encoding="utf-8"))
        about = {**table["provider"], "model": table["device"]["model"], "suite": table["suite"]}
        if found.device and found.device != about:
            message = (
                f"{file} is of {about}, the reports before of {found.device}; give reports of one provider and device"
            )
            raise ValueError(message)
        found.device = about
        for case in table["cases"]:
            if case["id"].startswith("primitives/") and case["status"] not in {"unsupported", "new"}:
                _see(found, file, case)
    return found


def _see(found: Reports, file: Path, case: dict[str, Any]) -> None:
    _, family, op, dtypes, _, name = case["id"].split("/")
    if family not in FAMILIES:
        return
    if case["status"] != "pass":
        message = f"{file}: {case['id']} did not pass ({case['status']}); a table of accuracy needs a good run"
        raise ValueError(message)
    if name.startswith("every-float32"):
        found.swept[op] = found.swept.get(op, 0) + 1
    place = (family, op, dtypes.partition("->")[0])
    is_best = name == "table" or name.startswith("every-float32") or bool(FAMILIES[family][op].attributes)
    before = found.worst.setdefault(place, Found())
    if case["margin"] is not None and (is_best, case["margin"]) >= (before.is_best, before.margin):
        found.worst[place] = Found(is_best, case["margin"], case["error"] or 0.0, case["at"])


def cell(accuracy: Accuracy, found: Found | None) -> str:
    """Return what the table says of one row in one element type."""
    if isinstance(accuracy, Exact):
        return "exact"
    if found is None:
        return f"? / {accuracy}"
    if isinstance(accuracy, Ulps):
        return f"{found.error:.2f} / {accuracy.n:g}" + (" or floor" if accuracy.floor else "")
    assert isinstance(accuracy, Conditioned)
    return f"{found.margin:.2f} of {accuracy.k:g} eps S"


def why(row: Op) -> str:
    """Return where the promises of a row come from, those of the 16-bit types aside."""
    wide = [dtype for dtype in row.dtypes if dtype in DTYPES[2:]]
    return Row(row.name, row, [(dtype, dtype) for dtype in wide]).cell("why").replace("|", SEPARATOR)


def table(family: str, found: Reports) -> Iterator[str]:
    """Yield the lines of one family's table: rows with a floating or complex result."""
    yield f"| op | {' | '.join(DTYPES)} | worst float32 at | why |"
    yield "|---" * (len(DTYPES) + 3) + "|"
    for op, row in FAMILIES[family].items():
        if row.out == "bool" or not set(row.dtypes) & set(DTYPES):
            continue
        cells = [
            cell(row.accuracy_of(dtype), found.worst.get((family, op, dtype))) if dtype in row.dtypes else "-"
            for dtype in DTYPES
        ]
        at = found.worst.get((family, op, "float32"), Found()).at
        yield f"| {op} | {' | '.join(cells)} | {at} | {why(row)} |"


def document(found: Reports) -> str:
    """Return docs/reports/accuracy.md."""
    floating = [op for op, row in UNARY_OPS.items() if "float32" in row.dtypes]
    whole = [op for op in floating if found.swept.get(op, 0) == SLICES]
    rest = sorted(set(floating) - set(whole))
    float32 = "all 2^32 inputs" + (f" (of {', '.join(rest)} designed and random ones)" if rest else "")
    head = HEAD.format(float32=float32, **found.device | {"provider": found.device["name"]})
    parts = [head]
    for family, title in TITLES.items():
        parts.append(f"\n## {title}\n\n" + "\n".join(table(family, found)) + "\n")
    return "".join(parts)


@click.command()
@click.argument("reports", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(reports: tuple[Path, ...]) -> None:
    """Print docs/reports/accuracy.md as the JSON REPORTS of one provider and device have it."""
    try:
        click.echo(document(read(reports)), nl=False)
    except (ValueError, KeyError, TypeError) as error:
        message = f"{error!r}; give files of `ep-conformance run --json` that ran to their end"
        raise click.ClickException(message) from error
