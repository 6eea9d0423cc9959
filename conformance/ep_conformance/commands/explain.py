"""`ep-conformance explain`: what a case checks."""

from __future__ import annotations

import click

from ep_conformance.commands.exits import WrongUse
from ep_conformance.explain import explain_case

__all__ = ["command"]


@click.command()
@click.argument("case")
def command(case: str) -> int:
    """Say what a case checks, and how."""
    try:
        click.echo(explain_case(case))
    except KeyError as error:
        raise WrongUse(error.args[0]) from None
    return 0
