"""Write docs/trust.md from a result of `ep-conformance selftest --mutants`: how many defects made by machine die, and which survive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ep_tools.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HEAD: Final = """# Trust

Is the suite worth trusting? `ep-conformance selftest` sets it on defects that are planted by hand, and every one of them must die. Here it is set on
defects that a machine makes: a fault of a right result (an element dropped, doubled, shifted, swapped, stale, flushed, taken from a neighbour's
row, a tail truncated) under one value of a family's situations, or under a pair of values, for all signatures that share a kernel. A mutant
that changed no result, because its values give its fault nothing to change, says nothing, and is left out.

Profile {profile}, seed {seed}: {mutants} mutants, {effective} of them changed a result, {killed} of these died. To measure again:
`ep-conformance selftest --mutants N --profile {profile} --json build/mutants.json`, then `make trust`.
"""

TITLES: Final = {
    "values": "By the number of values",
    "family": "By family",
    "dimension": "By dimension",
    "fault": "By fault",
}


def lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the page, line by line."""
    effective = result["killed"] + result["survived"]
    yield HEAD.format(effective=effective, **{name: result[name] for name in ("profile", "seed", "mutants", "killed")})
    for kind, title in TITLES.items():
        yield f"## {title}\n"
        rows = (
            (name, killed, of, f"{100 * killed / of:.1f} %") for name, (killed, of) in result["scores"][kind].items()
        )
        yield from table((kind, "killed", "of", "score"), rows)
        yield ""
    yield "## Survivors\n"
    alive = [each["mutant"] for each in result["details"] if each["word"] == "survived"]
    yield from (f"- `{each}`" for each in alive)
    if not alive:
        yield "None."


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(file: Path) -> None:
    """Print docs/trust.md from FILE, which `ep-conformance selftest --mutants N --json FILE` wrote."""
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
        text = "\n".join(lines(result))
    except (ValueError, KeyError, TypeError) as error:
        message = f"{file} is no result of `ep-conformance selftest --mutants N --json FILE`: {error!r}"
        raise click.ClickException(message) from None
    click.echo(text)
