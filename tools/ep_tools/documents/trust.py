"""Write docs/reports/trust.md from results of `ep-conformance selftest --mutants`: how many defects made by machine die, and which survive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ep_tools.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HEAD: Final = """# Trust

Is the suite worth trusting? `ep-conformance selftest` sets it on defects that are planted by hand, and every one of them must die. Here it is set on
defects that a machine makes: a fault of a right result (an element dropped, doubled, shifted, swapped, stale, flushed, taken from a neighbour's
row, a tail truncated) under one value of a family's situations, or under a pair of values, for all signatures that share a kernel. A third are
strangers' mutants: faults and conditions taken from defects of other vendors' kernels, written by somebody who had not seen the
situations (`ep_conformance/saboteurs/strangers` says which, and where they come from).

A mutant that changed no result, because its values give its fault nothing to change, says nothing, and is left out. A mutant whose
values no launch had has survived: the suite lacks a situation. `make trust` measures again.
"""

TITLES: Final = {
    "values": "By the number of values",
    "family": "By family",
    "dimension": "By dimension, without strangers",
    "fault": "By fault",
}


def lines(results: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the page, line by line.

    results : of some profiles, each what `selftest --mutants N --json FILE` writes
    """
    yield HEAD
    profiles = [result["profile"] for result in results]
    rows = [
        (
            result["profile"],
            result["seed"],
            result["mutants"],
            result["without effect"],
            result["killed"],
            result["survived"],
        )
        for result in results
    ]
    yield from table(("profile", "seed", "mutants", "without effect", "killed", "survived"), rows)
    yield ""
    for kind, title in TITLES.items():
        yield f"## {title}\n"
        names = sorted({name for result in results for name in result["scores"][kind]})
        scores = [[_score(*result["scores"][kind].get(name, (0, 0))) for result in results] for name in names]
        yield from table((kind, *profiles), [(name, *row) for name, row in zip(names, scores, strict=True)])
        yield ""
    for result in results:
        yield f"## Survivors of profile {result['profile']}\n"
        alive = [each for each in result["details"] if each["word"] == "survived"]
        yield from (f"- `{each['mutant']}`{'' if each['met'] else ', which no launch met'}" for each in alive)
        yield "" if alive else "None.\n"


def _score(killed: int, of: int) -> str:
    return f"{killed} of {of}, {100 * killed / of:.1f} %" if of else ""


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(files: tuple[Path, ...]) -> None:
    """Print docs/reports/trust.md from FILES, one a profile, which `ep-conformance selftest --mutants N --json FILE` wrote."""
    results = []
    for file in files:
        try:
            results.append(json.loads(file.read_text(encoding="utf-8")))
            text = "\n".join(lines(results)).rstrip()
        except (ValueError, KeyError, TypeError) as error:
            message = f"{file} is no result of `ep-conformance selftest --mutants N --json FILE`: {error!r}"
            raise click.ClickException(message) from None
    click.echo(text)
