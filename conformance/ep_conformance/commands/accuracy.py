"""`ep-conformance accuracy`: the accuracy registry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ep_conformance.commands.exits import CODES, WrongUse
from ep_conformance.commands.options import FILE
from ep_conformance.plan.accuracies import Promise, promises, stated, worst_margins
from ep_conformance.untrusted import read_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command(epilog=CODES)
@click.argument("cells", default="*/*/*")
@click.option("--json", "as_json", is_flag=True, help="A JSON list of name, accuracy, why, narrowed and margin.")
@click.option("--report", type=FILE, help="A JSON report of `run`: the worst margin that it found of each op.")
@click.option(
    "--below",
    type=float,
    help="With --report: only ops whose worst margin is smaller, so that their bound may be slack.",
)
def command(cells: str, as_json: bool, report: Path | None, below: float | None) -> int:  # noqa: FBT001 - click passes options by name
    """Print the accuracy that each op is held to in each element type, and the reason.

    CELLS is family/op/dtypes, such as 'elementwise_unary/exp/*'; its * stays inside a part.
    """
    if below is not None and report is None:
        message = "--below needs --report FILE, a JSON report with the margins that a run found"
        raise WrongUse(message)
    margins = {} if report is None else _margins(report)
    found = [promise for promise in promises(cells) if below is None or margins.get(promise.name, below) < below]
    if as_json:
        click.echo(
            json.dumps([promise.record() | {"margin": margins.get(promise.name)} for promise in found], indent=1)
        )
    else:
        for promise in found:
            click.echo("\n".join(_lines(promise, margins.get(promise.name))))
    if not found:
        click.echo(f"no op matches {cells!r}, which needs family/op/dtypes", err=True)
    return 0 if found else 1


def _lines(promise: Promise, margin: float | None) -> list[str]:
    narrowed = (domain for domain in dict.fromkeys(promise.domains) if not domain.is_open)
    return [
        f"{promise.name}  {stated(promise.accuracy, margin)}",
        *(f"    only inside {domain.name}: {domain.why}" for domain in narrowed),
    ]


def _margins(report: Path) -> dict[str, float]:
    try:
        table: Any = read_json(report.read_bytes())
        return worst_margins(table["cases"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{report} is no JSON report of `ep-conformance run --json` ({type(error).__name__}: {error})"
        raise WrongUse(message) from None
