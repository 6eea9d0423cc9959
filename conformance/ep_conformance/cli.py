"""The `ep-conformance` command: it loads the sub-command that is asked for, and words errors for the user."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from typing import Final

import click

from ep_conformance.commands.exits import CODES, INTERRUPTED, WrongUse

__all__ = ["run_command"]

_COMMANDS: Final = (
    "run",
    "list",
    "coverage",
    "explain",
    "replay",
    "accuracy",
    "claims",
    "report",
    "merge",
    "selftest",
    "new",
    "next",
)
"""In the order of `--help`; each is the `command` of ep_conformance.commands.NAME."""


class _Commands(click.Group):
    """Finds a command in its module, so that `list` does not wait for what only `run` needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"ep_conformance.commands.{cmd_name}").command
        found.name = cmd_name
        return found


@click.command(cls=_Commands, epilog=CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="execution-provider")
def command() -> None:
    """Judge whether a provider means what the interfaces of EP say."""


def run_command(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; whatever happens, a user sees a sentence."""
    try:
        code = command.main(arguments, prog_name="ep-conformance", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        click.echo(text.getvalue(), nl=False, err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("ep-conformance: interrupted", err=True)
        return INTERRUPTED
    except OSError as error:  # that a command did not word itself: a full disk, a pipe without a reader
        with contextlib.suppress(OSError):
            click.echo(
                f"ep-conformance: cannot write or read {error.filename or 'a file or pipe'}: {error.strerror}", err=True
            )
        return WrongUse.exit_code
    return int(code or 0)
