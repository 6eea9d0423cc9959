"""`ep-conformance accuracy`: the accuracy registry."""

from __future__ import annotations

import json

import click

from ep_conformance.accuracies import promises
from ep_conformance.commands.exits import CODES

__all__ = ["command"]


@click.command(epilog=CODES)
@click.argument("cells", default="*/*/*")
@click.option("--json", "as_json", is_flag=True, help="A JSON list of name, accuracy, why and narrowed.")
def command(cells: str, as_json: bool) -> int:  # noqa: FBT001 - click passes options by position or name
    """Print what each op is held to in each element type, and why.

    CELLS is family/op/dtypes, such as 'elementwise_unary/exp/*'; its * stays inside a part.
    """
    found = [*promises(cells)]
    if as_json:
        click.echo(json.dumps([promise.record() for promise in found], indent=1))
    else:
        for promise in found:
            click.echo(f"{promise.name}  {promise.accuracy}: {promise.accuracy.why}")
            for domain in dict.fromkeys(promise.domains):
                if not domain.is_open:
                    click.echo(f"    only inside {domain.name}: {domain.why}")
    if not found:
        click.echo(f"no op matches {cells!r}, which needs family/op/dtypes", err=True)
    return 0 if found else 1
