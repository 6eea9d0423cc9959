"""`ep-conformance run`: judge one device."""

from __future__ import annotations

import errno
import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from ep.plugin.claims import ClaimsError
from rich.console import Console

import ep
from ep_conformance.commands import options
from ep_conformance.commands.emulated import emulated
from ep_conformance.commands.exits import CODES, INTERRUPTED, UnavailableExit, WrongUse
from ep_conformance.judge.agreement import ApartError
from ep_conformance.plan.failed import FailedError, NothingFailed
from ep_conformance.plan.globs import require_one_run
from ep_conformance.plan.shard import ShardError
from ep_conformance.report.bits import bits_lines
from ep_conformance.report.journal import BusyError
from ep_conformance.report.resume import ResumeError
from ep_conformance.run.worker import Job
from ep_conformance.session import Options, conduct

if TYPE_CHECKING:
    from ep_conformance.report.report import Report
    from ep_conformance.run.spread import Spread

__all__ = ["command", "judged"]

_SCARCE: Final = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Codes of a system that gives no process, pipe or memory."""


@click.command(epilog=CODES)
@options.provider
@options.device
@options.profile
@click.option("--quick", is_flag=True, help="The same as --profile quick.")
@options.pattern_beside_ranks
@options.ranks
@options.every
@click.option(
    "--shard",
    type=options.ShardOf(),
    help="Only the I-th of N parts, such as 2/8, for one of N machines; `ep-conformance merge` makes one report of theirs.",
)
@click.option(
    "--claim",
    "claims",
    multiple=True,
    help="Hold the device to these cells, too, as if its claims.toml named them, such as 'flip/*/*/*'; may be repeated.",
)
@click.option("--claimed-only", is_flag=True, help="Leave out cases that are accepted without a claim (notices).")
@click.option(
    "--waivers",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Use this file in place of the provider's own waivers.toml.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of all random data.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes; default one a device, one a core on a CPU.")
@click.option("--failed", is_flag=True, help="Only cases that failed in the last run of this device.")
@click.option(
    "--fail-fast",
    is_flag=True,
    help="End after the first case that fails and counts, tried twice; --resume goes on from there.",
)
@click.option(
    "--json", type=options.FILE, help="Write the report as JSON; a journal beside it keeps each verdict meanwhile."
)
@click.option(
    "--resume", type=options.FILE, help="Keep the verdicts of this JSON report or its journal, and run the rest."
)
@options.html
@options.markdown
@options.junit
@click.option(
    "--replays",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for replay files of failing cases; default: the path of --json, with -failures for its suffix.",
)
@click.option("--no-replays", is_flag=True, help="Write no replay files, for which each failing case runs again.")
@click.option(
    "--memory-limit",
    type=options.Bytes(),
    help="Memory that all workers may take for cases, such as 4GiB; cases that need more are missing. Default: what is free.",
)
@options.bits_of
@options.hang_limit
@click.option(
    "--emulate",
    is_flag=True,
    help="Run under the provider's emulator, which provider.toml names; the verdict says so, and proves nothing of hardware.",
)
def command(*, quick: bool, emulate: bool, ranks: int | str | None, **given: Any) -> int:
    """Run the suite on one device and give a verdict."""
    if emulate:
        emulated(given["provider"])
    given["profile"] = "quick" if quick else given["profile"]
    if ranks is None:
        _require_one_run(given["pattern"])
    else:
        spread = _spread() if ranks == "mpi" else None
        given["pattern"] = _of_ranks(ranks if spread is None else spread.size, given["pattern"])
        if spread is not None:
            return _over_mpi(spread, Options(**given, spread=spread))
    return _conducted(Options(**given))


def _require_one_run(pattern: str | None) -> None:
    try:
        require_one_run(pattern)
    except ValueError as error:
        message = f"--filter {error}"
        raise WrongUse(message) from None


def _of_ranks(ranks: int | str, pattern: str | None) -> str:
    """Return the filter of collectives of so many ranks, of which another filter may choose."""
    begin, globs = f"collective/{ranks}/", (pattern or "*").split()
    for glob in globs:
        if glob.startswith("collective/") and not glob.startswith(begin):
            message = f"--ranks {ranks} and --filter {glob!r} contradict each other: {begin}... are the cases of {ranks} ranks; give what follows that alone"
            raise WrongUse(message)
    return " ".join(begin + glob.removeprefix(begin) for glob in globs)


def _spread() -> Spread:
    from ep_conformance.run.spread import Spread  # noqa: PLC0415 - few runs are over MPI, and the collectives take 50 ms

    try:
        return Spread()
    except ValueError as error:
        raise WrongUse(str(error)) from None
    except ep.UnavailableError as error:
        raise UnavailableExit(str(error)) from None


def _over_mpi(spread: Spread, chosen: Options) -> int:
    """Report at the first process, and follow it at all others; return one exit code at all of them."""
    if spread.rank:
        job = Job(chosen.device_name, chosen.profile, chosen.pattern, chosen.seed, None, Path(os.devnull))
        return spread.follow(job, chosen.hang_seconds)
    code = WrongUse.exit_code
    try:
        code = _conducted(replace(chosen, no_replays=True))
    except KeyboardInterrupt:
        spread.abort(INTERRUPTED)
    finally:
        if code == INTERRUPTED:
            spread.abort(code)
        spread.dismiss(code)
    return code


def _conducted(chosen: Options) -> int:
    """Run, print what is to be said, and return the exit code."""
    if chosen.no_replays and chosen.replays is not None:
        message = f"--no-replays and --replays {chosen.replays} contradict each other; give one of them"
        raise WrongUse(message)
    if chosen.failed and chosen.shard is not None:
        message = f"--failed and --shard {chosen.shard} contradict each other: other machines know other failures"
        raise WrongUse(message)
    options.require_folders((chosen.json, chosen.html, chosen.markdown, chosen.junit, chosen.replays))
    console = Console(highlight=False)
    try:
        report = judged(chosen, console)
    except NothingFailed as found:
        console.print(str(found), soft_wrap=True, markup=False)
        return 0
    for line in bits_lines(report.bits):
        console.print(line, soft_wrap=True, markup=False)
    if report.interrupted and chosen.json is not None:
        console.print(
            f"the same command with --resume {shlex.quote(str(chosen.json))} runs the rest",
            soft_wrap=True,
            markup=False,
        )
    console.print(report.sentence, soft_wrap=True, markup=False, style="green" if report.is_good else "bold red")
    return report.exit_code


def judged(chosen: Options, console: Console) -> Report:
    """Return the report of a run, and end the command with a sentence where there can be none."""
    other = chosen.bits_of.partition(":")[0]
    options.require_providers((chosen.provider, *((other,) if other else ())))
    if chosen.bits_of == chosen.device_name:
        message = f"--bits-of {chosen.bits_of} is the device itself; name another one"
        raise WrongUse(message)
    try:
        return conduct(chosen, console)
    except ep.UnavailableError as error:
        raise UnavailableExit(str(error)) from None
    except (ResumeError, ClaimsError, BusyError, ApartError, ShardError, FailedError) as error:
        raise WrongUse(str(error)) from None
    except OSError as error:
        if error.errno in _SCARCE:
            message = f"the system does not let the run go on ({error}); free what it lacks, or take fewer --jobs"
            raise UnavailableExit(message) from None
        message = f"cannot write the report: {error}"
        raise WrongUse(message) from None
