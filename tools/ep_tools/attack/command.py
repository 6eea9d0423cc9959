"""Attack EP: random programs under signals, bad calls, lying capsules, hostile plug-ins, for as long as one likes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import click

from ep_tools.attack import calls, capsules, plugins, signals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["command"]

_PARTS: Final[Mapping[str, Callable[[float, int], Mapping[str, int]]]] = {
    "signals": signals.attack,
    "calls": calls.attack,
    "capsules": capsules.attack,
    "plugins": plugins.attack,
}


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice([*_PARTS]))
@click.option("--seconds", type=click.FloatRange(min=0), default=120, show_default=True, help="For each part, about.")
@click.option("--seed", type=int, default=None, help="Of all that is random; a new one each time if it is left out.")
def command(parts: tuple[str, ...], seconds: float, seed: int | None) -> None:
    """Attack EP by all PARTS, or by those named.

    Each part says what it counted; the first finding ends it with what repeats it. Exit codes: 0 nothing found, 1 a finding,
    2 wrong use, 130 interrupted.
    """
    seed = int(time.time()) if seed is None else seed
    failed = False
    for name in parts or _PARTS:
        click.echo(f"{name}: seed {seed}, about {seconds:g} s")
        try:
            counts = _PARTS[name](seconds, seed)
        except AssertionError as finding:
            click.echo(f"  FOUND {finding}")
            failed = True
            continue
        for what, count in sorted(counts.items()):
            click.echo(f"  {count:>9,}  {what}")
    if failed:
        raise click.exceptions.Exit(1)
