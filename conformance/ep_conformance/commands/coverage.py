"""`ep-conformance coverage`: which pairs of situations the cases of a profile meet, and which are impossible and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click
from ep_primitives.situations.family import SituatedFamily
from rich.console import Console
from rich.table import Table

import ep
from ep_conformance.commands import options
from ep_conformance.commands.exits import WrongUse
from ep_conformance.coverage.count import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ep_conformance.coverage.count import Count, Tuple

__all__ = ["command"]

_SHOWN: Final = 20


@click.command(epilog="Exit codes: 0 good, 1 a possible pair or triple is not met, 2 wrong use.")
@click.option("--family", "name", metavar="NAME", help="Show one family by dimension, with what is impossible and why.")
@click.option("--triples", is_flag=True, help="Of one family: count all triples, too.")
@options.profile
def command(name: str | None, profile: str, *, triples: bool) -> int:
    """Count the pairs of values that cases meet, for each layout and kernel of the families that construct cases.

    In profile quick a kernel stands for the signatures that a family says share one, in the others for those of one body, such as
    all ops of equal element types; there the triples of dangerous dimensions have to be met, too.
    """
    families = {each.name: each for each in ep.families().values() if isinstance(each, SituatedFamily)}
    if name is not None and name not in families:
        message = f"no family that constructs cases is called {name!r}; those are {', '.join(sorted(families))}"
        raise WrongUse(message)
    if triples and name is None:
        message = "--triples is for one family: give --family NAME, too"
        raise WrongUse(message)
    console = Console(width=150, highlight=False)
    chosen = [families[name]] if name is not None else [*families.values()]
    missing = 0
    table = Table("family", "layout", "kernels", "cases", "tuples", "missing", "impossible", box=None, pad_edge=False)
    for family in chosen:
        counts = {"pairs": count(family, profile)}
        if profile != "quick":
            counts["triples"] = count(family, profile, "dangerous triples")
        for kind, each in counts.items():
            missing += _add_rows(table, family.name, kind, each)
            for line in _missing(family.name, each):
                console.print(line, markup=False)
        if name is not None:
            _by_dimension(console, family, counts["pairs"], profile, triples=triples)
    console.print(table)
    console.print(f"{missing} possible tuples are not met", markup=False)
    return int(missing > 0)


def _add_rows(table: Table, family: str, kind: str, counts: Iterable[Count]) -> int:
    """Add a row a layout, and return how many tuples are missing."""
    missing = 0
    for counted in counts:
        if counted.possible:
            lost = sum(map(len, counted.missing.values()))
            missing += lost
            numbers = (
                counted.kernels,
                counted.cases,
                f"{counted.possible.total()} {kind}",
                lost,
                len(counted.impossible),
            )
            table.add_row(family, counted.layout, *map(str, numbers))
    return missing


def _by_dimension(
    console: Console, family: SituatedFamily, counts: Iterable[Count], profile: str, *, triples: bool
) -> None:
    thirds = {each.layout: each for each in count(family, profile, "triples")} if triples else {}
    heads = ("layout", "dimension", "values", "pairs", *(("triples",) if triples else ()))
    table = Table(*heads, box=None, pad_edge=False)
    for counted in counts:
        model = family.model(counted.layout)
        for dimension in () if model is None else model.dimensions:
            met = [counted.of(dimension.name), *([thirds[counted.layout].of(dimension.name)] if triples else [])]
            words = " ".join(dimension.values)
            table.add_row(counted.layout, dimension.name, words, *(f"{have} of {could}" for have, could in met))
    console.print(table)
    for counted in counts:
        for each, reasons in counted.impossible.items():
            console.print(
                f"impossible: {counted.layout}: {_text(each)}: {'; '.join(reasons)}", markup=False, soft_wrap=True
            )


def _missing(family: str, counts: Iterable[Count]) -> Iterable[str]:
    for counted in counts:
        for place, lost in counted.missing.items():
            for each in lost[:_SHOWN]:
                yield f"missing: {family} {counted.layout}, kernel of {place.signature.op} {place.signature.dtypes}: {_text(each)}"
            if len(lost) > _SHOWN:
                yield f"missing: {len(lost) - _SHOWN} more there"


def _text(each: Tuple) -> str:
    return " with ".join(f"{name}.{value}" for name, value in each)
