"""`ep-conformance merge`: the reports of all shards as one."""

from __future__ import annotations

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
    if json is not None and json in files:
        message = f"--json {json} is one of the shards; give the whole report a file of its own"
        raise WrongUse(message)
    try:
        report = merged({file: read_report(file) for file in files})
        folder = (json or files[0]).absolute().parent
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
