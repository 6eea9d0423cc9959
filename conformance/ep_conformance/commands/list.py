"""`ep-conformance list`: the ids of all cases."""

from __future__ import annotations

import click

from ep_conformance.commands import options
from ep_conformance.plan.catalogue import list_ids
from ep_conformance.plan.contributed import case_packages

__all__ = ["command"]


@click.command(epilog="Exit codes: 0 good, 1 no case matches, 2 wrong use.")
@options.profile
@options.pattern
def command(profile: str, pattern: str | None) -> int:
    """List the ids of all cases, claimed or not."""
    ids = list(list_ids(profile, pattern))
    for package in case_packages():
        if package.fault:
            click.echo(f"{package.hook_id}: {package.fault}", err=True)
    click.echo("\n".join(ids) if ids else f"no case matches {pattern!r}", err=not ids)
    return 0 if ids else 1
