"""`ep-conformance claims`: compare claims.toml with a run, and write the claims that hold into it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Final

import click
from ep.plugin.claims import ClaimsError
from rich.console import Console
from rich.text import Text

import ep
from ep_conformance.claims.file import Proposal, propose
from ep_conformance.claims.shown import is_installed, new_file, shown
from ep_conformance.commands import options
from ep_conformance.commands.exits import CODES, INTERRUPTED, UnavailableExit, WrongUse
from ep_conformance.commands.run import judged
from ep_conformance.report.file import ReportError, read_report
from ep_conformance.report.report import write_text
from ep_conformance.run.verdict import UNSUPPORTED_CLAIM
from ep_conformance.session import Options

if TYPE_CHECKING:
    from pathlib import Path

    from ep_conformance.claims.shown import Shown
    from ep_conformance.report.report import Report

__all__ = ["command"]

_MOST: Final = 20
_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


@click.command(epilog=CODES)
@options.provider
@options.device
@options.profile
@options.pattern
@click.option("--from", "source", type=options.FILE, help="Take a JSON report of `run` in place of a run.")
@click.option(
    "--write", is_flag=True, help="Write the claims that hold: into FILE, by default the one in the source tree."
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if FILE differs from the claims that hold.")
@click.option("--dry-run", is_flag=True, help="With --write: show what would change, and write nothing.")
@click.option("--drop", is_flag=True, help="With --write: take out claims that do not hold any more.")
@click.argument("file", required=False, type=options.FILE)
def command(  # noqa: PLR0913 - each is an option
    provider: str,
    file: Path | None,
    source: Path | None,
    *,
    write: bool,
    check: bool,
    dry_run: bool,
    drop: bool,
    **given: Any,
) -> int:
    """Run all that a provider accepts, and claim the cells that pass.

    FILE is the claims.toml to write or to check; by default the one beside the provider's provider.toml, if that is a source
    tree: an editable install. The author's text stays, comments and `when` included; claims that hold and are missing
    are added. A claim that does not hold any more is named and stays, with exit code 1, unless --drop takes it out.
    """
    if write == check or ((dry_run or drop) and not write):
        message = "give either --write, perhaps with --dry-run and --drop, or --check"
        raise WrongUse(message)
    target = file or _default(provider)
    if write and is_installed(target):
        message = f"{target} lies in an installed package; install the source tree with `pip install -e`, or name a FILE elsewhere: --write FILE"
        raise WrongUse(message)
    options.require_folders([target])
    before = _text(target)
    console = Console(highlight=False)
    report = _report(provider, source, given, console)
    if report.interrupted and source is None:
        return INTERRUPTED
    found = shown(report)
    try:
        proposal = propose(before or new_file(), found, drop=drop)
    except ClaimsError as error:
        raise WrongUse(str(error)) from None
    if write:
        _show(console, before, proposal.text, target)
        if not dry_run and proposal.text != before:
            write_text(target, proposal.text)
    _tell_failing(console, found, proposal)
    _tell_lost(console, proposal)
    if check:
        return _compare(console, target, proposal)
    _say(console, f"{target} {'would say' if dry_run else 'says'}: {_count(proposal)}")
    if proposal.is_settled or drop:
        _say(console, f"Next: ep-conformance run --provider {provider} --quick")
        return 0
    _say(console, "Mend these, or give up their claims: --write --drop. Until then `ep-conformance run` fails by them.")
    return 1


def _text(target: Path) -> str:
    """Return what the file says, "" if it is not there; exit 2 for one that cannot be read."""
    try:
        return target.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        message = f"{target} cannot be read: {error}; mend it, or name another FILE"
        raise WrongUse(message) from None


def _default(provider: str) -> Path:
    registration = ep.providers().get(provider)
    if registration is None or registration.manifest is None:
        known = ", ".join(ep.providers())
        why = f"unknown provider {provider!r}; known are {known}" if registration is None else registration.fault
        raise WrongUse(why)
    return registration.manifest.claims


def _report(provider: str, source: Path | None, given: dict[str, Any], console: Console) -> Report:
    """Return a run of all that the provider accepts, or the report that was named; exit 3 for one that judged nothing."""
    report = judged(Options(provider, claim_all=True, **given), console) if source is None else _read(provider, source)
    if report.unavailable:
        raise UnavailableExit(report.sentence)
    if report.is_emulated:
        message = f"{report.subject.name} of this run is emulated ({report.subject.device['model']}); claims come from hardware"
        raise UnavailableExit(message)
    return report


def _read(provider: str, source: Path) -> Report:
    try:
        report = read_report(source)
    except ReportError as error:
        raise WrongUse(str(error)) from None
    if report.subject.provider != provider:
        message = f"{source} is of {report.subject.provider}, not of {provider}"
        raise WrongUse(message)
    if report.shard is not None:
        message = (
            f"{source} is shard {report.shard} of a run; give --from what `ep-conformance merge` writes of all of them"
        )
        raise WrongUse(message)
    return report


def _say(console: Console, text: str | Text) -> None:
    console.print(text, soft_wrap=True, markup=False)


def _show(console: Console, before: str, after: str, target: Path) -> None:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(target), str(target), lineterm="", n=1)
    for line in lines:
        _say(console, Text(line, style=_STYLES.get(line[0], "")))


def _tell_failing(console: Console, found: Shown, proposal: Proposal) -> None:
    """Name the failures without a claim; missing abilities are not named."""
    failing = [
        reason
        for name, reason in sorted(found.failing.items())
        if name not in proposal.lost and not (name.startswith("runtime/") and UNSUPPORTED_CLAIM in reason)
    ]
    if failing:
        _say(console, f"accepted and failing, so not claimed: {len(failing)}, such as {failing[0]}")


def _tell_lost(console: Console, proposal: Proposal) -> None:
    if proposal.lost:
        _say(console, Text(f"claimed, and not holding: {len(proposal.lost)}", style="bold red"))
    for name, reason in [*proposal.lost.items()][:_MOST]:
        _say(console, f"  {name}  {reason}")
    if len(proposal.lost) > _MOST:
        _say(console, f"  and {len(proposal.lost) - _MOST} more")
    for pattern in proposal.idle:
        _say(console, f"claimed, and in no case of the suite: {pattern}")


def _compare(console: Console, target: Path, proposal: Proposal) -> int:
    if proposal.unclaimed:
        _say(console, Text("holding, and not claimed:", style="yellow"))
    for pattern in proposal.unclaimed:
        _say(console, f"  {pattern}")
    if proposal.is_settled and not proposal.unclaimed:
        _say(console, f"{target} claims what holds: {_count(proposal)}")
        return 0
    return 1


def _count(proposal: Proposal) -> str:
    return f"{proposal.claimed} cells and abilities claimed, in {proposal.patterns} patterns"
