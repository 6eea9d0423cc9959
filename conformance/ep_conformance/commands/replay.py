"""`ep-conformance replay`: run failing cases again, from their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

import ep
from ep_conformance.commands.exits import CODES, UnavailableExit, WrongUse
from ep_conformance.judge.outcome import Outcome, Status
from ep_conformance.replay.file import Replay, ReplayError, read_replay
from ep_conformance.replay.script import script_of
from ep_conformance.run.runner import HANG_SECONDS
from ep_conformance.run.worker import Job
from ep_conformance.run.workers import Worker, Workplace, ask, await_answer

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command"]


@click.command(epilog=CODES)
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--provider", help="Name of an installed provider; default: the one in the file.")
@click.option("--device", type=click.IntRange(min=0), help="Number of its device; default: the one in the file, or 0.")
@click.option("--script", is_flag=True, help="Print a Python script that shows the failure, in place of running it.")
def command(files: tuple[Path, ...], provider: str | None, device: int | None, *, script: bool) -> int:
    """Run the cases of replay files, or of all in a folder, again.

    Each runs in a process of its own, with the data that failed. If the suite draws other data for the case today, the
    data in the file are used, and the output says so.
    """
    replays = [(path, _read(path)) for path in _paths(files)]
    if script:
        for path, replay in replays:
            click.echo(script_of(replay, path, _device_name(replay, provider, device)), nl=False)
        return 0
    console = Console(highlight=False)
    passes = 0
    for path, replay in replays:
        name = _device_name(replay, provider, device)
        outcome, note = _run(replay, name)
        passes += outcome.status is Status.PASS
        word = str(outcome.status)
        console.print(f"{word:<12} {replay.case} on {name} ({path.name})", soft_wrap=True, markup=False)
        for line in [*([f"note: {note}"] if note else []), *outcome.reason.splitlines()]:
            console.print(f"             {line}", soft_wrap=True, markup=False)
    if len(replays) > 1:
        console.print(f"{passes} of {len(replays)} pass", soft_wrap=True)
    return 0 if passes == len(replays) else 1


def _paths(given: tuple[Path, ...]) -> Iterator[Path]:
    for path in given:
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            message = f"{path}: holds no replay file"
            raise WrongUse(message)
        yield from inside


def _read(path: Path) -> Replay:
    try:
        return read_replay(path)
    except ReplayError as error:
        raise WrongUse(str(error)) from None


def _device_name(replay: Replay, provider: str | None, device: int | None) -> str:
    """Return the name of the device to run on; provider and device default to those of the file."""
    was, _, number = str(replay.device["name"]).partition(":")
    if device is None:
        device = int(number) if provider is None and number.isdecimal() else 0
    return f"{was if provider is None else provider}:{device}"


def _run(replay: Replay, device: str) -> tuple[Outcome, str]:
    """Return the outcome of the case in a new process, and a remark about its data."""
    name, known = device.partition(":")[0], ep.providers()
    if name not in known:
        message = f"unknown provider {name!r}; known are {', '.join(known) or 'none: install one'}; --provider chooses"
        raise WrongUse(message)
    limit = HANG_SECONDS[replay.profile]
    with Workplace() as folder:
        log, bits_of = Path(folder) / "worker.log", replay.bits_of
        worker = Worker(Job(device, replay.profile, None, replay.seed, None, log, bits_of=bits_of))
        try:
            ask(worker, "probe", limit)
            worker.send("replay", replay.as_json())
            answer = await_answer(worker, limit, limit)
            return (worker.death(), "") if answer is None else (answer[1], answer[2])
        except TimeoutError:
            return worker.hang(limit), ""
        except ep.UnavailableError as error:
            raise UnavailableExit(str(error)) from None
        finally:
            worker.end()
