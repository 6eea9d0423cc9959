"""`ep-conformance claims`: write the claims that hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.console import Console

from ep_conformance.claims import claims_text, is_installed, passed_cells
from ep_conformance.commands import options
from ep_conformance.commands.exits import CODES, INTERRUPTED, WrongUse
from ep_conformance.commands.run import judged
from ep_conformance.report import write_text
from ep_conformance.runtime import runtime_cases
from ep_conformance.session import Options
from ep_conformance.verdict import Status

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command(epilog=CODES)
@options.provider
@options.device
@options.profile
@click.option("--write", "file", required=True, type=options.FILE, help="The claims.toml to write.")
def command(provider: str, device: int, profile: str, file: Path) -> int:
    """Run all that a provider accepts, and claim the cells that pass."""
    if is_installed(file):
        message = f"{file} lies in an installed package; write to your source tree, or anywhere else"
        raise WrongUse(message)
    console = Console(highlight=False)
    report = judged(Options(provider, device, profile, claim_all=True), console)
    if report.interrupted:
        return INTERRUPTED
    optional = {case.id for case in runtime_cases().values() if case.optional}
    judged_cases = [(v.id, v.outcome) for v in report.verdicts if v.counts and (v.id in optional or v.id[:3] == "pri")]
    names = passed_cells(judged_cases)
    write_text(file, claims_text(names, report.subject.device["features"]))
    failing = sum(v.status is not Status.PASS for v in report.verdicts if v.counts)
    console.print(f"{file}: {len(names)} cells and abilities claimed; {failing} cases did not pass", soft_wrap=True)
    return 0
