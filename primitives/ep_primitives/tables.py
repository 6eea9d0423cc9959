"""The committed float64 tables: inputs and correctly rounded results, made by tools/reference_tables.py with mpmath.

Only transcendental rows have one: the float64 results of all other rows are exact by IEEE 754, and NumPy's are too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from ep_primitives.reference import Array

__all__ = ["NAMES", "Table", "load"]

NAMES: Final = (
    "elu",
    "gelu",
    "tanh",
    "exp",
    "log",
    "elu_backward_with_dy_x",
    "gelu_backward_with_dy_x",
    "tanh_backward_with_dy_y",
)


@dataclass(frozen=True, slots=True)
class Table:
    """The points of one op: arrays of one length; `scale` is S of a conditioned row, else None."""

    inputs: tuple[Array, ...]
    attributes: tuple[float, ...]
    value: Array
    scale: Array | None


@cache
def load(op: str) -> Table:
    """Return the table of an op of NAMES; its arrays are read only."""
    path = resources.files("ep_primitives") / "tables" / f"{op}.npz"
    with path.open("rb") as file, np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for array in arrays.values():
        array.flags.writeable = False
    inputs = tuple(arrays[name] for name in ("x", "a", "b") if name in arrays)
    attributes = tuple(float(value) for value in arrays["attributes"])
    return Table(inputs, attributes, arrays["value"], arrays.get("scale"))
