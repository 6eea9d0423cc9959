"""Make the tables that transcendental ops are judged by in float64 and complex128: mpmath, 2,000 points an op and more.

    python tools/reference_tables.py [NAME ...]     write primitives/ep_primitives/judging/tables; the bytes never change
    python tools/reference_tables.py --check        recompute a sample at twice the precision; exit 1 if a value differs

A NAME is an op or an element type. The ops' mathematics is in the package `mathematics` beside.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from mathematics import (
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
from mathematics.table import START, Table, evaluate

FOLDER: Final = Path(__file__).parent.parent / "primitives" / "ep_primitives" / "judging" / "tables"
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


def check(dtype: str, name: str, count: int) -> list[str]:
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


def main() -> int:
    """Write the tables, or check the ones that are there; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", metavar="NAME", help="ops or element types; all if there is none")
    parser.add_argument("--check", action="store_true", help="recompute a sample of the committed tables")
    parser.add_argument("--points", type=int, default=200, help="points an op that --check recomputes")
    arguments = parser.parse_args()
    chosen = [
        (dtype, name)
        for dtype, tables in TABLES.items()
        for name in tables
        if not arguments.names or {dtype, name} & set(arguments.names)
    ]
    wrong = []
    for dtype, name in chosen:
        if arguments.check:
            wrong += check(dtype, name, arguments.points)
        else:
            arrays = make(dtype, name)
            (FOLDER / dtype).mkdir(parents=True, exist_ok=True)
            np.savez(FOLDER / dtype / f"{name}.npz", **arrays)
            sys.stdout.write(f"{dtype}/{name}: {arrays['value'].size} points\n")
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    if arguments.check:
        sys.stdout.write(f"{len(wrong)} of {len(chosen) * arguments.points} points differ\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
