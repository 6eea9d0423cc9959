"""The committed tables: float64 and complex128 inputs with correctly rounded results, made with mpmath.

`python tools reference-tables` makes them. Only transcendental rows have one: the float64 results of all other rows are
exact by IEEE 754, and NumPy's are too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["Table", "load", "names"]

_FOLDER: Final = resources.files("ep_primitives") / "judging" / "tables"


@dataclass(frozen=True, slots=True)
class Table:
    """The points of one op: arrays of one length; `scale` is S of a conditioned row, else None."""

    inputs: tuple[Array, ...]
    attributes: tuple[float, ...]
    value: Array
    scale: Array | None


@cache
def names(dtype: str) -> tuple[str, ...]:
    """Return the ops that have a table for an element type: float64 and complex128 have some, others none."""
    folder = _FOLDER / dtype
    files = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    return tuple(sorted(name.removesuffix(".npz") for name in files if name.endswith(".npz")))


@cache
def load(op: str, dtype: str) -> Table:
    """Return the table of one of `names(dtype)`; its arrays are read only."""
    path = _FOLDER / dtype / f"{op}.npz"
    with path.open("rb") as file, np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for array in arrays.values():
        array.flags.writeable = False
    inputs = tuple(arrays[name] for name in ("x", "a", "b") if name in arrays)
    attributes = tuple(float(value) for value in arrays["attributes"])
    return Table(inputs, attributes, arrays["value"], arrays.get("scale"))
