"""`ep-conformance explain`: what a case checks."""

from __future__ import annotations

import click

from ep_conformance.commands.exits import WrongUse
from ep_conformance.replay.file import ReplayError
from ep_conformance.report.explain import explain_case

__all__ = ["command"]


@click.command(epilog="Exit codes: 0 good, 2 no such case or file.")
@click.argument("case")
def command(case: str) -> int:
    """Say what a case checks, and how to run it alone.

    CASE is an id, claims/PATTERN or waivers/GLOB as a report has it, or a replay file.
    """
    try:
        click.echo(explain_case(case))
    except (KeyError, ReplayError) as error:
        raise WrongUse(error.args[0]) from None
    return 0
