"""`ep-conformance report`: a JSON report in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from ep_conformance.commands import options
from ep_conformance.commands.exits import WrongUse
from ep_conformance.report.file import ReportError, read_report
from ep_conformance.report.formats import write_formats
from ep_conformance.untrusted import read_json

__all__ = ["command"]

_CODES: Final = "Exit codes: 0 written, or as the schema says; 1 not as the schema says; 2 wrong use, or no report."
_MOST_LINES: Final = 40


@click.command(epilog=_CODES)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@options.html
@options.markdown
@options.junit
@click.option("--check", is_flag=True, help="Check the file against the JSON schema, and list its violations.")
def command(file: Path, *, check: bool, **formats: Path | None) -> int:
    """Write the JSON report in FILE as a page, as Markdown or as JUnit XML; without options, print its verdict.

    The report may be of a run that was interrupted or killed: its cases without a verdict are missing.
    """
    options.require_folders(formats.values())
    if check and _broken(file):
        return 1
    try:
        report = read_report(file)
        write_formats(report, file.parent, **formats)
    except ReportError as error:
        raise WrongUse(str(error)) from None
    except OSError as error:
        message = f"cannot write the report: {error}"
        raise WrongUse(message) from None
    click.echo(report.sentence)
    return 0


def _broken(file: Path) -> bool:
    """Print a file's violations of the schema; True if there are any."""
    try:
        from ep_conformance.report.schema import problems  # noqa: PLC0415 - jsonschema is loaded only where a file is checked

        table: Any = read_json(file.read_bytes())
    except ImportError:
        message = "--check needs jsonschema: pip install 'execution-provider[conformance]'"
        raise WrongUse(message) from None
    except OSError as error:
        message = f"{file} cannot be read ({error.strerror})"
        raise WrongUse(message) from None
    except ValueError as error:
        click.echo(f"{file} is no JSON: {error}")
        return True
    count = 0
    for count, line in enumerate(problems(table), 1):
        if count > _MOST_LINES:
            click.echo("and more")
            break
        click.echo(line)
    return count > 0
