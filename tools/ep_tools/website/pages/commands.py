"""The page of a program: every command of it and every option, taken from click, which parses them."""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from ep_tools.markdown import escaped, table
from ep_tools.website.directive import directive, fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["PROGRAMS", "Command", "commands", "exit_codes", "form", "options", "page"]

PROGRAMS: Final[Mapping[str, str]] = {
    "ep": "ep.cli",
    "ep-conformance": "ep_conformance.cli",
    "ep-bench": "ep_benchmarks.cli",
    "ep-onnx": "ep_onnx.cli",
}
"""Each program and the module whose `command` it is."""

_CODES: Final = "Exit codes: "
_CODE: Final = re.compile(r"(\d+) (.*?)(?=[,;] \d+ |$)")


class Command(NamedTuple):
    """A command as it is typed, and click's idea of it."""

    name: str
    command: click.Command

    @property
    def context(self) -> click.Context:
        """What click wants to be asked with."""
        return click.Context(self.command, info_name=self.name, help_option_names=["-h", "--help"])


def commands(program: str) -> Iterator[Command]:
    """Yield a program and all of its commands, in the order of its help."""
    root = importlib.import_module(PROGRAMS[program]).command
    yield from _walk(Command(program, root))


def _walk(found: Command) -> Iterator[Command]:
    yield found
    if isinstance(found.command, click.Group):
        context = found.context
        for name in found.command.list_commands(context):
            inner = found.command.get_command(context, name)
            assert inner is not None, f"{found.name} lists {name}, which it has not"
            yield from _walk(Command(f"{found.name} {name}", inner))


def exit_codes(found: Command) -> dict[str, str]:
    """Return what each exit code of a command means, by the last sentence of its help; none if it does not say."""
    _, _, codes = (found.command.epilog or "").partition(_CODES)
    return dict(_CODE.findall(codes.strip().rstrip(".")))


def options(found: Command) -> Iterator[click.Parameter]:
    """Yield the arguments and options of a command, the shown ones, `--help` among them."""
    for parameter in found.command.get_params(found.context):
        if not getattr(parameter, "hidden", False):
            yield parameter


def page(program: str) -> str:
    """Return the page of a program."""
    lines = [f"# The command `{program}`", ""]
    for found in commands(program):
        lines += [] if found.name == program else [f"## {found.name}", ""]
        lines += directive("command", found.name, _text(found))
        lines += [f"```{{program}} {found.name}\n```\n"]
        for parameter in options(found):
            lines += directive("option", form(parameter), _option(parameter, found))
    return "\n".join(lines)


def _text(found: Command) -> Iterator[str]:
    yield escaped(found.command.help or "")
    usage = " ".join(found.command.collect_usage_pieces(found.context))
    yield f"\n    {found.name} {usage}\n"
    said, _, _ = (found.command.epilog or "").partition(_CODES)
    yield from (f"    {line}" for line in said.replace("\b", "").strip().splitlines())
    yield from ("", *table(("exit code", "means"), exit_codes(found).items()))


def form(parameter: click.Parameter) -> str:
    """Return how an option is written, as Sphinx reads it."""
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(click.Context(click.Command("")))
    takes = "" if _is_flag(parameter) else f" {_metavar(parameter)}"
    return ", ".join(f"{name}{takes}" for name in (*parameter.opts, *parameter.secondary_opts))


def _option(parameter: click.Parameter, found: Command) -> Iterator[str]:
    yield escaped(getattr(parameter, "help", None) or "")
    default = parameter.get_default(found.context)
    facts: dict[str, Any] = {
        "values": ", ".join(f"`{each}`" for each in getattr(parameter.type, "choices", ())),
        "range": str(parameter.type).partition("x")[0] and _range(parameter.type),
        "default": ""
        if default is None or _is_flag(parameter) or not isinstance(default, str | int | float)
        else f"`{default}`",
        "repeated": "may be given more than once" if getattr(parameter, "multiple", False) else "",
        "needed": "always" if parameter.required else "",
    }
    yield from fields(facts)


def _range(kind: click.ParamType[Any]) -> str:
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    words = [f"{'above' if getattr(kind, 'min_open', False) else 'from'} {least}"] if least is not None else []
    words += [f"to {most}"] if most is not None else []
    return " ".join(words)


def _is_flag(parameter: click.Parameter) -> bool:
    return bool(getattr(parameter, "is_flag", False) or getattr(parameter, "count", False))


def _metavar(parameter: click.Parameter) -> str:
    metavar = parameter.metavar or parameter.type.name.upper()
    return "CHOICE" if metavar == "CHOICE" else metavar.replace(" ", "-")
