"""The command `ep`: devices, doctor, capabilities. Exit codes: 0 good, 1 failures, 2 wrong use, 3 unavailable."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import click

from ep.errors import EpError, UnavailableError
from ep.folders import cache_folder
from ep.ground.console import begin, end
from ep.ground.words import message, shown, shown_lines
from ep.plugin.capabilities import capabilities
from ep.plugin.claims import ClaimsError
from ep.plugin.doctor import examine, look, variables
from ep.plugin.registry import device, provider, providers

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["command", "main"]

_EXIT_CODES: Final = (
    "Exit codes: 0 good, 1 something failed, 2 wrong use, 3 provider or device unavailable, 130 Ctrl-C."
)
_SHORT: Final = 500
"""Characters of a cell; --traceback shows more."""
_LONGEST_DAY: Final = 86_400
_STYLES: Final = {"ok": "", "unavailable": "yellow", "refused": "yellow", "broken": "red"}


def _check_seconds(_context: click.Context, _parameter: click.Parameter, seconds: float) -> float:
    if math.isnan(seconds):  # which no range leaves out
        message = "nan is no number of seconds"
        raise click.BadParameter(message)
    return seconds


_TIMEOUT: Final = click.option(
    "--timeout",
    "seconds",
    metavar="SECONDS",
    type=click.FloatRange(0, _LONGEST_DAY, min_open=True),
    default=30,
    show_default=True,
    callback=_check_seconds,
    help="How long each plug-in has, which is asked in a process of its own; one that hangs is ended and named.",
)


@click.group(epilog=_EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="execution-provider")
def command() -> None:
    """Look at the hardware that EP sees on this machine."""


@command.command("devices", epilog=_EXIT_CODES)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@_TIMEOUT
def devices_command(*, as_json: bool, seconds: float) -> None:
    """List the devices of every provider that is here; one that is broken is named on stderr, and the exit code is 1."""
    rows: list[dict[str, Any]] = []
    broken: list[str] = []
    for registration, account in look(seconds):
        rows += account.rows
        reasons = [reason for _, verdict, reason, *_ in account.findings if verdict == "broken"]
        reasons += [account.fault] if account.fault else []
        broken += [f"ep: provider {registration.name}: {shown(each, _SHORT)}; ep doctor says more" for each in reasons]
    prints = Counter(row["fingerprint"] for row in rows)
    for row in rows:
        row["also"] = _twins(row, rows) if prints[row["fingerprint"]] > 1 else []
    if as_json:
        click.echo(json.dumps(rows, indent=2))
    else:
        _show(rows)
    for line in broken:
        click.echo(line, err=True)
    if broken:
        sys.exit(1)


def _show(rows: list[dict[str, Any]]) -> None:
    table = _table("device", "name", "memory", "kinds", "features", "same hardware as")
    for row in rows:
        words = (" ".join(row[field]) for field in ("memory_kinds", "features", "also"))
        _add(table, row["device"], row["name"], _size(row["memory"]), *words)
    _print(table)
    if not rows:
        click.echo("no device found; ep doctor says why")


@command.command("doctor", epilog=_EXIT_CODES)
@click.option("--traceback", "tracebacks", is_flag=True, help="Print the traceback of each broken plug-in.")
@_TIMEOUT
def doctor_command(*, tracebacks: bool, seconds: float) -> None:
    """Say what was found, what was refused and why, and check that each device works."""
    for name, value in variables().items():
        click.echo(shown(f"{name}={value}"))
    click.echo(shown(f"kept between processes: {cache_folder()}"))
    table = _table("", "verdict", "reason", "from")
    findings = list(examine(seconds))
    for finding in findings:
        style = _STYLES[finding.verdict]
        _add(table, finding.subject, finding.verdict, finding.reason, finding.origin, style=style)
    _print(table)
    traced = [finding for finding in findings if finding.traceback]
    for finding in traced if tracebacks else ():
        click.echo(f"\n{shown(finding.subject)}:\n{shown_lines(finding.traceback)}")
    counts = Counter(finding.verdict for finding in findings)
    click.echo(", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLES))
    if traced and not tracebacks:
        click.echo("ep doctor --traceback prints where it broke")
    if counts["broken"]:
        sys.exit(1)


@command.command("capabilities", epilog=_EXIT_CODES)
@click.option("--provider", "name", required=True, help="Name of the provider.")
@click.option("--device", "index", default=0, show_default=True, help="Number of its device.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list of all rows.")
def capabilities_command(*, name: str, index: int, as_json: bool) -> None:
    """List what a provider's device claims and how it serves each cell, compiling nothing."""
    provider(name)
    asked = device(f"{name}:{index}")
    registration = providers()[name]
    rows = registration.guard(lambda: list(capabilities(asked)), "failed while it was asked for its capabilities")
    if rows is None:
        raise EpError(f"provider {name}: {registration.fault}")  # noqa: EM102, TRY003 - one line to the user
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], indent=1))
        return
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        counts.setdefault((row.family, row.layout if row.family == "runtime" else row.op), Counter())[row.how] += 1
        counts[row.family, row.layout if row.family == "runtime" else row.op]["claimed"] += row.claimed
    table = _table("family", "op", "native", "lowered", "degraded", "none", "claimed")
    for (family, op), count in counts.items():
        _add(table, family, op, *(str(count[key]) for key in ("native", "lowered", "degraded", "none", "claimed")))
    _print(table)


def main() -> None:
    """Run the command; every error becomes one message and an exit code, never a traceback."""
    begin()
    end(_run())


def _run() -> int:
    try:
        command(standalone_mode=False)
        sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt):
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except UnavailableError as error:
        return _failed(error, 3)
    except ValueError as error:
        return _failed(error, 2)
    except (EpError, ClaimsError, OSError) as error:
        return _failed(error, 1)
    return 0


def _failed(error: Exception, code: int) -> int:
    click.echo(f"ep: {shown(message(error))}", err=True)
    return code


def _twins(row: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    fingerprint = row["fingerprint"]
    return [
        other["device"] for other in rows if fingerprint and other is not row and other["fingerprint"] == fingerprint
    ]


def _table(*columns: str) -> Table:
    from rich.table import Table  # noqa: PLC0415 - JSON output does without rich

    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _add(table: Table, *cells: str, style: str = "") -> None:
    table.add_row(*(shown(cell, _SHORT) for cell in cells), style=style)


def _print(table: Table) -> None:
    from rich.console import Console  # noqa: PLC0415

    # Names and reasons are anybody's text: nothing in them is markup.
    Console(soft_wrap=not sys.stdout.isatty(), markup=False, emoji=False, highlight=False).print(table)


def _size(nbytes: int) -> str:
    return f"{nbytes / 2**30:.1f} GiB" if nbytes else ""


if __name__ == "__main__":
    main()
