"""`ep-conformance selftest`: is the suite worth trusting? It must kill every saboteur, and pass right providers."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console

import ep
from ep_conformance.commands import options
from ep_conformance.commands.exits import CODES, UnavailableExit, WrongUse
from ep_conformance.report.report import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ep_conformance.saboteurs.hunt import Kill

__all__ = ["command"]

_SEEDS: Final = 20
_LINE: Final = 150


@click.command(epilog=CODES)
@click.argument("names", nargs=-1)
@click.option("--list", "is_list", is_flag=True, help="Print which case kills which saboteur, and run nothing.")
@click.option("--seeds", default=_SEEDS, show_default=True, type=click.IntRange(min=1), help="Most tries of a race.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes at once; default one a core.")
@click.option("--json", "file", type=options.FILE, help="Write the result as JSON, with the fate of each saboteur.")
@click.option(
    "--false-alarms",
    "runs",
    type=click.IntRange(min=1),
    help="In place of saboteurs, run the suite on a right provider with so many seeds.",
)
@click.option(
    "--mutants",
    "count",
    type=click.IntRange(min=1),
    help="In place of saboteurs, make so many defects of each family by machine, and count those that die.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the mutants.")
@click.option("--provider", default="honest", show_default=True, help="The provider that is right.")
@options.profile
@options.pattern
def command(
    names: tuple[str, ...], *, is_list: bool, file: Path | None, runs: int | None, count: int | None, **given: Any
) -> int:
    """Test the suite: plant defects in a right provider, and check that the case meant for each defect fails.

    NAMES are saboteurs, all if none is given. The last line is {"saboteurs": n, "killed": n, "survivors": []}.
    With --false-alarms N the suite's cases (--profile, --filter) run on a right provider with N seeds, and none may fail.
    With --mutants N the cases of --profile hunt N mutants of each family: faults under one value of its situations, or a pair of them;
    of families without a case that --filter matches there are none.
    """
    from ep_conformance.saboteurs.table import HONEST, SABOTEURS, table_lines  # noqa: PLC0415 - it imports every defect

    console = Console(highlight=False, stderr=True)
    known = {saboteur.name: saboteur for saboteur in SABOTEURS}
    unknown = [name for name in names if name not in known]
    if unknown:
        message = f"no saboteur is called {unknown[0]!r}; `ep-conformance selftest --list` names them"
        raise WrongUse(message)
    if is_list:
        click.echo("\n".join(table_lines()))
        return 0
    if file is not None and not file.absolute().parent.is_dir():
        message = f"{file}: its folder does not exist"
        raise WrongUse(message)
    if runs is not None:
        able = {*ep.providers(), HONEST.name, *known}
        if given["provider"] not in able:
            message = f"unknown provider {given['provider']!r}; known are {HONEST.name}, {', '.join(ep.providers())}"
            raise WrongUse(message)
        accused = [saboteur for saboteur in SABOTEURS if saboteur.name == given["provider"]]
        return _accuse_nobody(console, runs, file, accused, **given)
    if count is not None:
        return _hunt_mutants(
            console,
            count,
            file,
            given["seed"],
            given["profile"],
            given["pattern"],
            given["jobs"] or os.cpu_count() or 1,
        )
    chosen = [known[name] for name in names] or list(SABOTEURS)
    return _kill_all(console, chosen, file, given["seeds"], given["jobs"] or os.cpu_count() or 1)


def _kill_all(console: Console, chosen: list[Any], file: Path | None, seeds: int, jobs: int) -> int:
    from ep_conformance.saboteurs.hunters import hunt_all  # noqa: PLC0415 - as above

    kills: dict[str, Kill] = {}

    def hear(kill: Kill) -> None:
        kills[kill.name] = kill
        word = "killed" if kill.is_dead else "SURVIVED"
        said = kill.reason.partition("\n")[0] or f"{kill.status}: {kill.case} in {seeds} seeds"
        console.print(f"{len(kills):>3}/{len(chosen)} {word} {kill.name}: {said}"[:_LINE], markup=False, soft_wrap=True)
        if kill.alarm:
            console.print(f"    FALSE ALARM: honest fails {kill.case}: {kill.alarm}", markup=False, soft_wrap=True)

    with _installed(chosen) as packages:
        hunt_all(chosen, packages, seeds=seeds, jobs=jobs, hear=hear)
    survivors = [saboteur.name for saboteur in chosen if not kills[saboteur.name].is_dead]
    alarms = sorted({kill.case for kill in kills.values() if kill.alarm})
    result = {"saboteurs": len(chosen), "killed": len(chosen) - len(survivors), "survivors": survivors}
    if file is not None:
        details = [kills[saboteur.name]._asdict() for saboteur in chosen]
        write_text(file, json.dumps({**result, "false_alarms": alarms, "details": details}, indent=1) + "\n")
    if alarms:
        console.print(f"false alarms: the honest provider fails {', '.join(alarms)}", markup=False, soft_wrap=True)
    click.echo(json.dumps(result))
    return 1 if survivors or alarms else 0


def _hunt_mutants(  # noqa: PLR0913, PLR0917 - what the user asked for
    console: Console, count: int, file: Path | None, seed: int, profile: str, pattern: str | None, jobs: int
) -> int:
    from ep_conformance.saboteurs.mutants import mutant, score  # noqa: PLC0415 - as above
    from ep_conformance.saboteurs.mutants.kernel import MUTANT  # noqa: PLC0415 - as above

    mutants = mutant.made(count, seed, profile, pattern)
    known = {"killed": 0, "survived": 0, "without effect": 0}

    def hear(one: Any, fate: Any) -> None:
        known[fate.word] += 1
        if fate.word == "survived":
            console.print(f"SURVIVED {one}"[:_LINE], markup=False, soft_wrap=True)

    with _installed([MUTANT]) as packages:
        found = score.fates(mutants, packages, profile=profile, jobs=jobs, hear=hear)
    kinds: dict[str, Any] = {
        "values": lambda one: ["stranger" if one.is_strange else "one" if len(one.values) == 1 else "pair"],
        "family": lambda one: [one.family],
        "dimension": lambda one: [] if one.is_strange else [name.partition("-")[0] for name, _ in one.values],
        "fault": lambda one: [one.fault],
    }
    tables = {kind: score.scores(found, of) for kind, of in kinds.items()}
    for kind, table in tables.items():
        for name, (killed, of) in table.items():
            console.print(f"{kind:<10} {name:<26} {killed:>6} of {of:<6} {100 * killed / of:6.1f} %", markup=False)
    result = {"mutants": len(mutants), "seed": seed, "profile": profile, **known}
    if file is not None:
        write_text(file, json.dumps({**result, "scores": tables, "details": score.as_json(found)}, indent=1) + "\n")
    click.echo(json.dumps(result))
    return 1 if known["survived"] else 0


def _accuse_nobody(console: Console, runs: int, file: Path | None, accused: list[Any], **given: Any) -> int:
    from ep_conformance.saboteurs.alarms import false_alarms  # noqa: PLC0415 - as above

    provider, words = given["provider"], ["--profile", given["profile"]]
    words += ["--filter", given["pattern"]] if given["pattern"] else []
    words += ["--jobs", str(given["jobs"])] if given["jobs"] else []
    found: list[dict[str, Any]] = []
    try:
        with _installed(accused) as packages:
            for alarms in false_alarms(provider, runs, packages, words):
                found.append(alarms._asdict())
                told = f"seed {alarms.seed}: {alarms.cases} cases, {len(alarms.alarms)} false alarms, {alarms.seconds:.0f} s"
                console.print(told, markup=False)
                for case, why in alarms.alarms.items():
                    console.print(f"    {case}: {why}", markup=False, soft_wrap=True)
    except ep.UnavailableError as error:
        raise UnavailableExit(str(error)) from None
    wrong = sorted({case for each in found for case in each["alarms"]})
    result = {"provider": provider, "seeds": runs, "cases": found[-1]["cases"], "false_alarms": wrong}
    if file is not None:
        write_text(file, json.dumps({**result, "details": found}, indent=1) + "\n")
    if not result["cases"]:
        console.print("no case was expected to run, so nothing was shown; choose others with --filter", soft_wrap=True)
    click.echo(json.dumps(result))
    return 1 if wrong or not result["cases"] else 0


@contextlib.contextmanager
def _installed(saboteurs: list[Any]) -> Iterator[Path]:
    """Give the folder in which the honest provider and saboteurs are installed, no more: some cases look at all providers."""
    from ep_conformance.saboteurs.install import install  # noqa: PLC0415 - as above
    from ep_conformance.saboteurs.table import HONEST  # noqa: PLC0415 - as above

    with tempfile.TemporaryDirectory(prefix="ep-saboteurs-") as folder:
        install([HONEST, *saboteurs], Path(folder))
        yield Path(folder)
