"""Compile every program of CUDA that has changed since it was recorded, and record it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING

import click
from ep_cuda.compiler.nvrtc import nvrtc

import ep
from ep_tools.compiled.check import fault_of
from ep_tools.compiled.programs import grouped, programs, stale
from ep_tools.compiled.record import FILE, Row, read, write
from ep_tools.folders import ROOT

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import ep_simt

__all__ = ["command"]


@click.command()
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count, show_default="all processors")
@click.option("--check", is_flag=True, help="Compile nothing; exit 1 if a program has changed.")
def command(*, jobs: int, check: bool) -> None:
    """Compile every program of CUDA that has changed for each architecture, search its PTX, and record it (all: an hour of a processor)."""
    groups, recorded = grouped(programs()), read()
    changed = stale(groups, recorded)
    if check:
        if changed or recorded.keys() - groups.keys():
            message = f"{FILE.relative_to(ROOT)} is not of today ({', '.join(changed) or 'some are gone'}); write it: python tools cuda-programs"
            raise click.ClickException(message)
        return
    version, faults = _version(), []
    kept = {name: row for name, row in recorded.items() if name in groups and name not in changed}
    write(kept)
    spawn, deaf = multiprocessing.get_context("spawn"), (signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is this process's
    with ProcessPoolExecutor(jobs, spawn, signal.signal, deaf) as pool:
        for name, digest in changed.items():
            found = _faults(pool, groups[name])
            faults += found
            click.echo(f"{name}: {len(groups[name])} programs, {len(found)} faults")
            if not found:
                kept[name] = Row(len(groups[name]), version, digest)
                write(kept)
    if faults:
        raise click.ClickException("\n".join(faults))


def _version() -> str:
    try:
        return nvrtc().version
    except ep.UnavailableError as error:
        raise click.UsageError(str(error)) from None


def _faults(pool: Executor, group: list[ep_simt.Program]) -> list[str]:
    try:
        return [fault for fault in pool.map(fault_of, group) if fault]
    except BrokenProcessPool:
        message = f"a process that compiled one of {group[0].name} and its neighbours ended; what was compiled before is recorded, so call it again"
        raise click.ClickException(message) from None
