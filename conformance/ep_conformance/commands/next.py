"""`ep-conformance next`: the bring-up ladder, and what to write next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

import ep
from ep_conformance.commands import options
from ep_conformance.commands.exits import CODES, UnavailableExit, WrongUse
from ep_conformance.ladder.climb import Climb, Landing, State, climb
from ep_conformance.report.history import read_history
from ep_conformance.report.report import write_text
from ep_conformance.run.runner import HANG_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ep_conformance.ladder.contract import Function

__all__ = ["command"]

_MOST_CASES = 3
_LINES = 6
_STYLES = {State.HOLDS: "green", State.FAILS: "bold red", State.OPEN: "yellow"}


@click.command(epilog=CODES)
@options.provider
@options.device
@click.option("--json", "file", type=options.FILE, help="Write the result as JSON.")
@options.hang_limit
def command(provider: str, device: int, file: Path | None, hang_limit: float | None) -> int:
    """Climb the bring-up ladder: which rung fails first, and which function to write next."""
    if provider not in ep.providers():
        found = f'[project.entry-points."ep.providers"] {provider} = "ep_{provider}"'
        message = f"unknown provider {provider!r}; known are {', '.join(ep.providers())}. A package is found by its entry point, {found}, once it is installed: pip install -e ."
        raise WrongUse(message)
    if file is not None and not file.absolute().parent.is_dir():
        message = f"{file}: its folder does not exist"
        raise WrongUse(message)
    console = Console(highlight=False)
    history = read_history(f"{provider}:{device}")

    def announce(what: str, ids: Sequence[str], jobs: int) -> None:
        seconds = max(1, round(history.expected_seconds(list(ids), jobs)))
        _say(console, f"{provider}:{device}: {len(ids)} cases {what}, about {seconds} s")

    try:
        limit = hang_limit or HANG_SECONDS["quick"]
        ladder = climb(provider, device, limit, announce, lambda landing: _show(console, landing))
    except ep.UnavailableError as error:
        raise UnavailableExit(str(error)) from None
    _conclude(console, ladder, f"ep-conformance next --provider {provider}" + (f" --device {device}" if device else ""))
    if file is not None:
        write_text(file, json.dumps(_table(ladder), indent=1) + "\n")
    return 1 if ladder.failed else 0


def _say(console: Console, text: str | Text) -> None:
    console.print(text, soft_wrap=True, markup=False)


def _show(console: Console, landing: Landing) -> None:
    rung, state = landing.rung, landing.state
    ran = f"{landing.cases} cases, {landing.seconds:.1f} s" if landing.cases else ""
    line = Text.assemble(f"  {rung.number}  ", (f"{state:<6}", _STYLES[state]), f" {rung.title:<56} {ran}")
    _say(console, line)


def _conclude(console: Console, ladder: Climb, again: str) -> None:
    _say(console, "")
    landing = ladder.next
    failed = ladder.failed
    if failed is not None:
        _say(console, Text(f"Rung {failed.rung.number} fails: {failed.rung.title}.", style="bold red"))
        _tell_cases(console, failed)
    else:
        _say(console, Text(f"All that is mandatory and claimed holds: {ladder.cases} cases.", style="green"))
        for other in ladder.landings:
            if other.state is State.OPEN:
                _say(console, f"  rung {other.rung.number} is open: {other.step.what}")
    if landing is not None:
        if failed is not None and landing.step.what:
            _say(console, f"  {landing.step.what}")
        _say(console, "")
        _say(console, Text("Next:" if failed is not None else f"Next, for rung {landing.rung.number}:", style="bold"))
        for function in landing.step.functions:
            _tell_function(console, function)
        for line in filter(None, [landing.step.command]):
            _say(console, f"  {line}")
    _say(console, f"Then: {again}")


def _tell_cases(console: Console, landing: Landing) -> None:
    for verdict in landing.failing[:_MOST_CASES]:
        _say(console, f"  {verdict.status} {verdict.id}")
        for line in verdict.outcome.reason.splitlines()[:_LINES]:
            _say(console, f"      {line}")
    more = len(landing.failing) - _MOST_CASES
    if more > 0:
        _say(console, f"  and {more} more, at least")


def _tell_function(console: Console, function: Function) -> None:
    _say(console, f"  {function.headline}")
    if function.signature:
        _say(console, f"      {function.signature}")
    for line in function.asks.splitlines():
        _say(console, f"      {line}".rstrip())


def _table(ladder: Climb) -> dict[str, Any]:
    landing = ladder.next
    return {
        "device": ladder.device,
        "model": ladder.arrival.device.get("model", ""),
        "failed": None if ladder.failed is None else ladder.failed.rung.number,
        "next": None if landing is None else landing.rung.number,
        "rungs": [_rung(landing) for landing in ladder.landings],
    }


def _rung(landing: Landing) -> dict[str, Any]:
    return {
        "rung": landing.rung.number,
        "title": landing.rung.title,
        "state": str(landing.state),
        "cases": landing.cases,
        "seconds": round(landing.seconds, 3),
        "failing": [{"id": v.id, "status": str(v.status), "reason": v.outcome.reason} for v in landing.failing],
        "what": landing.step.what,
        "command": landing.step.command,
        "functions": [vars(function) for function in landing.step.functions],
    }
