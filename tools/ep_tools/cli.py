"""`python tools`: it loads the command that is asked for, and words errors for the user."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import io
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COMMANDS", "command", "run_command"]

COMMANDS: Final[Mapping[str, str]] = {
    "families": "documents.families",
    "matrix": "documents.matrix",
    "accuracy": "documents.accuracy",
    "trust": "documents.trust",
    "onnx": "onnx_suite.page",
    "collective-cost": "links.command",
    "site": "website.command",
    "situations": "covering.command",
    "stub": "generated.stub",
    "kit-claims": "generated.kit_claims",
    "cuda-claims": "generated.cuda_claims",
    "opencl-claims": "generated.opencl_claims",
    "reference-tables": "reference.tables",
    "second-opinion": "peers.second_opinion",
    "attention": "peers.attention",
    "onnx-runtime": "peers.onnx_runtime",
    "exported": "peers.exported",
    "attack": "attack.command",
    "cuda-programs": "compiled.command",
    "wheel": "wheel",
}
"""In the order of `--help`; each is the `command` of that module in ep_tools."""

_WRONG_USE: Final = 2
_INTERRUPTED: Final = 130


class _Commands(click.Group):
    """Finds a command in its module, so that no command waits for what only another needs, nor needs it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [*COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"ep_tools.{COMMANDS[cmd_name]}").command
        found.name = cmd_name
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, _sentence(module)) for name, module in COMMANDS.items()])


def _sentence(module: str) -> str:
    """Return the first line of a module's docstring, without what the module imports."""
    spec = importlib.util.find_spec(f"ep_tools.{module}")
    assert spec is not None
    assert spec.origin is not None
    words = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    assert words is not None
    return words.partition("\n")[0]


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
def command() -> None:
    """Build, document and question EP. tools/README.md says what goes into each command, and what comes out."""


def run_command(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; what is wrong outside of EP, a user reads as a sentence."""
    try:
        code = command.main(arguments, prog_name="python tools", standalone_mode=False)
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        click.echo(text.getvalue(), nl=False, err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("python tools: interrupted", err=True)
        return _INTERRUPTED
    except ModuleNotFoundError as error:
        if error.name is None or importlib.util.find_spec(error.name.partition(".")[0]):
            raise
        click.echo(f"python tools: needs the package {error.name}: pip install {error.name}", err=True)
        return _WRONG_USE
    except OSError as error:
        click.echo(
            f"python tools: cannot write or read {error.filename or 'a file or pipe'}: {error.strerror}", err=True
        )
        return _WRONG_USE
    return int(code or 0)
