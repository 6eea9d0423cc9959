"""Options that several commands have."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import click

import ep
from ep_conformance.collective import MOST_RANKS
from ep_conformance.commands.exits import WrongUse
from ep_conformance.plan.globs import joined, require_one_run
from ep_conformance.plan.profiles import PROFILES
from ep_conformance.plan.shard import Shard

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "FILE",
    "Bytes",
    "RanksOf",
    "ShardOf",
    "bits_of",
    "device",
    "hang_limit",
    "html",
    "junit",
    "markdown",
    "pattern",
    "pattern_beside_ranks",
    "profile",
    "provider",
    "ranks",
    "require_folders",
    "require_providers",
]

FILE: Final = click.Path(dir_okay=False, path_type=Path)


class Bytes(click.ParamType[int]):
    """A number of bytes, such as 4GiB, 512MiB or 1000000."""

    name = "bytes"
    _units: ClassVar[dict[str, int]] = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; exit 2 for any other text."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"([0-9]+)\s*([KMG]iB|)", value.strip())
        if found is None or not int(found[1]):
            self.fail(f"{value!r} is no number of bytes; write it like 4GiB, 512MiB or 1000000", param, ctx)
        return int(found[1]) * self._units[found[2]]


class RanksOf(click.ParamType[Any]):
    """A number of ranks, or the word mpi."""

    name = "n|mpi"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """Return the number or the word; exit 2 for any other text."""
        text = str(value)
        if text == "mpi":
            return text
        if not (text.isdecimal() and 1 <= int(text) <= MOST_RANKS):
            self.fail(f"{text!r} is no number of ranks from 1 to {MOST_RANKS}, and not mpi", param, ctx)
        return int(text)


class ShardOf(click.ParamType[Shard]):
    """One part of several, such as 2/8."""

    name = "i/n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        """Return the shard; exit 2 for any other text."""
        try:
            return value if isinstance(value, Shard) else Shard.parse(value)
        except ValueError:
            self.fail(f"{value!r} is no shard; write which of how many, such as 2/8", param, ctx)


def _number(context: click.Context, parameter: click.Parameter, seconds: float | None) -> float | None:
    if seconds is not None and math.isnan(seconds):
        message = "nan is no number of seconds"
        raise click.BadParameter(message, context, parameter)
    return seconds


def _joined(_context: click.Context, _option: click.Parameter, patterns: tuple[str, ...]) -> str | None:
    return joined(patterns)


def _of_one_run(context: click.Context, option: click.Parameter, patterns: tuple[str, ...]) -> str | None:
    pattern = joined(patterns)
    try:
        require_one_run(pattern)
    except ValueError as error:
        raise click.BadParameter(str(error), context, option) from None
    return pattern


def _device_name(context: click.Context, option: click.Parameter, name: str) -> str:
    if name and re.fullmatch(r"[^:]+:[0-9]+", name) is None:
        message = f"{name!r} is no device; write a provider's name and a number, such as cpu:0"
        raise click.BadParameter(message, context, option)
    return name


hang_limit = click.option(
    "--hang-limit", type=click.FloatRange(min=0, min_open=True), callback=_number, help="Seconds a case may take."
)
provider = click.option("--provider", required=True, help="Name of an installed provider.")
device = click.option(
    "--device", default=0, show_default=True, type=click.IntRange(min=0), help="Which of its devices."
)
profile = click.option(
    "--profile", default="standard", show_default=True, type=click.Choice(PROFILES), help="How much data."
)
_CHOICE: Final = (
    "Only cases whose id matches this glob; * crosses slashes. May be repeated: cases that match one of them."
)
pattern = click.option("--filter", "pattern", multiple=True, callback=_of_one_run, help=_CHOICE)
pattern_beside_ranks = click.option("--filter", "pattern", multiple=True, callback=_joined, help=_CHOICE)
ranks = click.option(
    "--ranks",
    type=RanksOf(),
    help="Judge collectives of so many ranks in this process, and nothing else: --filter 'collective/N/*'; a --filter beside it is of what follows that. Or mpi: of the processes that mpiexec started.",
)
every = click.option(
    "--every",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Of each op only every Nth element type, in turn, so that each op and each type is tried: for slow compilers.",
)
bits_of = click.option(
    "--bits-of",
    default="",
    callback=_device_name,
    metavar="PROVIDER:N",
    help="Demand the bits of this device, such as cpu:0, of what is exact or one formula an element.",
)
html = click.option("--html", type=FILE, help="Write the report as one self-contained HTML page.")
markdown = click.option("--markdown", type=FILE, help="Write a summary in Markdown, short enough for a comment.")
junit = click.option("--junit", type=FILE, help="Write the report as JUnit XML.")


def require_providers(names: Iterable[str]) -> None:
    """Exit 2 for a name that no provider has."""
    known = ep.providers()
    for name in names:
        if name not in known:
            message = f"unknown provider {name!r}; known are {', '.join(known) or 'none: install one'}"
            raise WrongUse(message)


def require_folders(files: Iterable[Path | None]) -> None:
    """Raise WrongUse for a file to be written whose folder is not there: before a run, not after it."""
    for file in files:
        if file is not None and not file.absolute().parent.is_dir():
            message = f"{file}: its folder does not exist"
            raise WrongUse(message)
