"""Make the tables that transcendental ops are judged by in float64 and complex128: mpmath, 2,000 points an op and more.

Into primitives/ep_primitives/judging/tables; the bytes never change. The ops' mathematics is in the package beside.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

import click
import numpy as np

from ep_tools.folders import ROOT
from ep_tools.reference.mathematics import (
    activation,
    activation_backward,
    complex_backward,
    complex_elementary,
    elementary,
    math_backward,
    power,
    special,
    two_numbers,
)
from ep_tools.reference.mathematics.table import START, Table, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER: Final = ROOT / "primitives" / "ep_primitives" / "judging" / "tables"
LEAST: Final = 2000

TABLES: Final[dict[str, dict[str, Table]]] = {
    "float64": {
        **elementary.TABLES,
        **special.TABLES,
        **activation.TABLES,
        **activation_backward.TABLES,
        **math_backward.TABLES,
        **power.TABLES,
        **two_numbers.TABLES,
    },
    "complex128": {**complex_elementary.TABLES, **complex_backward.TABLES},
}


def make(dtype: str, name: str) -> dict[str, Any]:
    """Return the arrays of one table."""
    table = TABLES[dtype][name]
    drawn = table.points(random.Random(name))  # noqa: S311 - test data, not a secret
    points = list({repr(point): point for point in drawn}.values())
    if len(points) < LEAST:
        message = f"{dtype}/{name}: {len(points)} points, needs at least {LEAST}"
        raise ValueError(message)
    results = np.array([evaluate(table, point) for point in points])
    inputs = ("x",) if len(points[0]) == 1 else ("a", "b")
    columns = dict(zip(inputs, np.array(points, dtype).T.copy(), strict=True))
    return {**columns, **_outputs(dtype, results), "attributes": np.array(table.attributes, np.float64)}


def differing(dtype: str, name: str, count: int) -> list[str]:
    """Return a line for each point of a sample that a recomputation at twice the precision disagrees with."""
    with np.load(FOLDER / dtype / f"{name}.npz") as stored:
        arrays = dict(stored)
    points = list(zip(*(arrays[key].tolist() for key in ("x", "a", "b") if key in arrays), strict=True))
    outputs = [key for key in ("value", "scale") if key in arrays]
    chosen = random.Random(count).sample(range(len(points)), min(count, len(points)))  # noqa: S311 - as above
    results = np.array([evaluate(TABLES[dtype][name], points[place], 2 * START) for place in chosen])
    wanted = _outputs(dtype, results)
    return [
        f"{dtype}/{name}{points[place]}: {key} is {wanted[key][row]!r}, the table has {arrays[key][place]!r}"
        for key in outputs
        for row, place in enumerate(chosen)
        if wanted[key][row].tobytes() != arrays[key][place].tobytes()
    ]


def _outputs(dtype: str, results: Any) -> dict[str, Any]:
    """Return the columns (value), (value, S), (real, imaginary) or (real, imaginary, S) as arrays."""
    parts = 2 if dtype == "complex128" and results.shape[1] > 1 else 1
    value = np.ascontiguousarray(results[:, :parts]).view(dtype if parts > 1 else "float64")[:, 0]
    return {"value": value} | ({"scale": results[:, parts].copy()} if results.shape[1] > parts else {})


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--check", is_flag=True, help="Write nothing; recompute a sample at twice the precision, exit 1 if a value differs."
)
@click.option("--points", type=click.IntRange(min=1), default=200, help="Points an op that --check recomputes.")
def command(names: tuple[str, ...], *, check: bool, points: int) -> None:
    """Write the tables of the ops and element types of these names, or all."""
    known = {name for dtype, tables in TABLES.items() for name in (dtype, *tables)}
    if unknown := sorted({*names} - known):
        message = f"no op or element type with a table: {', '.join(unknown)}; there are {', '.join(sorted(known))}"
        raise click.UsageError(message)
    chosen = [
        (dtype, name) for dtype, tables in TABLES.items() for name in tables if not names or {dtype, name} & {*names}
    ]
    if check:
        _check(chosen, points)
    else:
        _write(chosen)


def _check(chosen: Sequence[tuple[str, str]], points: int) -> None:
    wrong = [line for dtype, name in chosen for line in differing(dtype, name, points)]
    click.echo(
        "".join(f"{line}\n" for line in [*wrong, f"{len(wrong)} of {len(chosen) * points} points differ"]), nl=False
    )
    if wrong:
        raise click.exceptions.Exit(1)


def _write(chosen: Sequence[tuple[str, str]]) -> None:
    for dtype, name in chosen:
        arrays = make(dtype, name)
        (FOLDER / dtype).mkdir(parents=True, exist_ok=True)
        np.savez(FOLDER / dtype / f"{name}.npz", **arrays)
        click.echo(f"{dtype}/{name}: {arrays['value'].size} points")
