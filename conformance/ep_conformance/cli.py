"""The commands of `ep-conformance`: run, list, explain, claims."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

import click
from ep.claims import ClaimsError
from rich.console import Console

import ep
from ep_conformance.catalogue import list_ids
from ep_conformance.claims import claims_text, is_installed, passed_cells
from ep_conformance.explain import explain_case
from ep_conformance.report import Report, write_text
from ep_conformance.resume import ResumeError
from ep_conformance.runtime import runtime_cases
from ep_conformance.session import Options, conduct
from ep_conformance.trial import PROFILES
from ep_conformance.verdict import Status

__all__ = ["run_command"]

_CODES: Final = "Exit codes: 0 good, 1 failures, 2 wrong use, 3 provider or device unavailable, 130 interrupted."
_INTERRUPTED: Final = 130
_FILE: Final = click.Path(dir_okay=False, path_type=Path)


class _WrongUse(click.ClickException):
    """One line, exit 2."""

    exit_code = 2


class _Unavailable(click.ClickException):
    """The reason, exit 3."""

    exit_code = 3


@click.group(epilog=_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="execution-provider")
def command() -> None:
    """Judge whether a provider means what the interfaces of EP say."""


@command.command(epilog=_CODES)
@click.option("--provider", required=True, help="Name of an installed provider.")
@click.option("--device", default=0, show_default=True, type=click.IntRange(min=0), help="Which of its devices.")
@click.option("--profile", default="standard", show_default=True, type=click.Choice(PROFILES), help="How much data.")
@click.option("--quick", is_flag=True, help="The same as --profile quick.")
@click.option("--filter", "pattern", help="Only cases whose id matches this glob; * crosses slashes.")
@click.option(
    "--claim",
    "claims",
    multiple=True,
    help="Hold the device to these cells, too, as if its claims.toml named them, such as 'flip/*/*/*'; may be repeated.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of all random data.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes; default one a device, one a core on a CPU.")
@click.option("--failed", is_flag=True, help="Only what failed in the last run of this device.")
@click.option("--json", type=_FILE, help="Write the report as JSON; every half minute what there is of it.")
@click.option("--resume", type=_FILE, help="Keep what passed in this JSON report, and run the rest.")
@click.option("--junit", type=_FILE, help="Write the report as JUnit XML.")
@click.option("--hang-limit", type=click.FloatRange(min=0, min_open=True), help="Seconds a case may take.")
def run(*, quick: bool, **options: Any) -> int:
    """Run the suite on one device and give a verdict."""
    options["profile"] = "quick" if quick else options["profile"]
    chosen = Options(**options)
    for file in (chosen.json, chosen.junit):
        if file is not None and not file.absolute().parent.is_dir():
            message = f"{file}: its folder does not exist"
            raise _WrongUse(message)
    console = Console(highlight=False)
    report = _conduct(chosen, console)
    if chosen.failed and not report.verdicts:
        console.print(f"{chosen.device_name}: nothing failed in the last run", soft_wrap=True)
        return 0
    console.print(report.sentence, soft_wrap=True, markup=False, style="green" if report.is_good else "bold red")
    return report.exit_code


@command.command("list")
@click.option("--profile", default="standard", show_default=True, type=click.Choice(PROFILES), help="How much data.")
@click.option("--filter", "pattern", help="Only ids that match this glob; * crosses slashes.")
def list_cases(profile: str, pattern: str | None) -> int:
    """List the ids of all cases, whoever claims them."""
    ids = list(list_ids(profile, pattern))
    click.echo("\n".join(ids) if ids else f"no case matches {pattern!r}", err=not ids)
    return 0 if ids else 1


@command.command()
@click.argument("case")
def explain(case: str) -> int:
    """Say what a case checks, and how."""
    try:
        click.echo(explain_case(case))
    except KeyError as error:
        raise _WrongUse(error.args[0]) from None
    return 0


@command.command(epilog=_CODES)
@click.option("--provider", required=True, help="Name of an installed provider.")
@click.option("--device", default=0, show_default=True, type=click.IntRange(min=0), help="Which of its devices.")
@click.option("--profile", default="standard", show_default=True, type=click.Choice(PROFILES), help="How much data.")
@click.option("--write", "file", required=True, type=_FILE, help="The claims.toml to write.")
def claims(provider: str, device: int, profile: str, file: Path) -> int:
    """Run all that a provider accepts, and claim the cells that pass."""
    if is_installed(file):
        message = f"{file} lies in an installed package; write to your source tree, or anywhere else"
        raise _WrongUse(message)
    console = Console(highlight=False)
    report = _conduct(Options(provider, device, profile, claim_all=True), console)
    if report.interrupted:
        return _INTERRUPTED
    optional = {case.id for case in runtime_cases().values() if case.optional}
    judged = [(v.id, v.outcome) for v in report.verdicts if v.counts and (v.id in optional or v.id[:3] == "pri")]
    names = passed_cells(judged)
    write_text(file, claims_text(names, report.subject.device["features"]))
    failing = sum(v.status is not Status.PASS for v in report.verdicts if v.counts)
    console.print(f"{file}: {len(names)} cells and abilities claimed; {failing} cases did not pass", soft_wrap=True)
    return 0


def _conduct(options: Options, console: Console) -> Report:
    known = ep.providers()
    if options.provider not in known:
        message = f"unknown provider {options.provider!r}; known are {', '.join(known) or 'none: install one'}"
        raise _WrongUse(message)
    try:
        return conduct(options, console)
    except ep.UnavailableError as error:
        raise _Unavailable(str(error)) from None
    except (ResumeError, ClaimsError) as error:
        raise _WrongUse(str(error)) from None
    except OSError as error:
        message = f"cannot write the report: {error}"
        raise _WrongUse(message) from None


def run_command(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; whatever happens, a user sees a sentence."""
    try:
        code = command.main(arguments, prog_name="ep-conformance", standalone_mode=False)
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        click.echo(text.getvalue(), nl=False, err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("ep-conformance: interrupted", err=True)
        return _INTERRUPTED
    return int(code or 0)
