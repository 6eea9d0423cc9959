"""`ep-conformance merge`: the reports of all shards as one."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ep_conformance.commands import options
from ep_conformance.commands.exits import CODES, WrongUse
from ep_conformance.report.bits import bits_lines
from ep_conformance.report.file import ReportError, read_report
from ep_conformance.report.formats import write_formats
from ep_conformance.report.merged import MergeError, merged

if TYPE_CHECKING:
    from pathlib import Path

    from ep_conformance.report.report import Report

__all__ = ["command"]


@click.command(epilog=CODES)
@click.argument("files", type=options.FILE, nargs=-1, required=True)
@click.option("--json", type=options.FILE, help="Write the whole report as JSON.")
@options.html
@options.markdown
@options.junit
def command(files: tuple[Path, ...], json: Path | None, **formats: Path | None) -> int:
    """Give the verdict of a whole run from the JSON reports of its shards, in any order; each has to be there."""
    options.require_folders((json, *formats.values()))
    _require_apart(files, [file for file in (json, *formats.values()) if file is not None])
    folder = (json or files[0]).absolute().parent
    try:
        report = merged({file: _seen_from(folder, file) for file in files})
        if json is not None:
            report.write_json(json)
        write_formats(report, folder, **formats)
    except (ReportError, MergeError) as error:
        raise WrongUse(str(error)) from None
    except OSError as error:
        message = f"cannot write the report: {error}"
        raise WrongUse(message) from None
    for line in bits_lines(report.bits):
        click.echo(line)
    click.echo(report.sentence)
    return report.exit_code


def _require_apart(files: tuple[Path, ...], written: list[Path]) -> None:
    """Raise WrongUse for a shard that is there twice, or that would be written over."""
    shards = [file.resolve() for file in files]
    for place, file in enumerate(files):
        if shards[place] in shards[:place]:
            message = f"{file} is given twice; name each report once"
            raise WrongUse(message)
    for file in written:
        if file.resolve() in shards:
            message = f"{file} is one of the shards; give the whole report a file of its own"
            raise WrongUse(message)


def _seen_from(folder: Path, file: Path) -> Report:
    """Return a shard's report, with its replay files as they are named from the folder of the whole report."""
    report = read_report(file)
    own = file.absolute().parent
    verdicts = [
        each if each.replay is None else replace(each, replay=os.path.relpath(own / each.replay, folder))
        for each in report.verdicts
    ]
    return replace(report, verdicts=tuple(verdicts))
