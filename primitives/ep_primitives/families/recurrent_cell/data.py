"""Data for the operands of cells' cases: random ones, and contents that show a fault of one kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ep_primitives.judging.reference import Array, array_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.families.recurrent_cell.descriptor import RecurrentCell

    Contents = Callable[[np.random.Generator, RecurrentCell], dict[str, Array]]

__all__ = ["CONTENTS"]


def _stored(cell: RecurrentCell, arrays: Mapping[str, Any]) -> dict[str, Array]:
    """Return those that the cell has, in its element type."""
    return {
        name: np.asarray(arrays[name]).astype(array_dtype(cell.gates.dtype)) for name in cell.present if name in arrays
    }


def _shapes(cell: RecurrentCell) -> dict[str, tuple[int, ...]]:
    return cell.shapes(*cell.h.shape)


def _random(rng: np.random.Generator, cell: RecurrentCell, gates: float = 1.5) -> dict[str, Array]:
    """Gates of which some are open, some closed and most in between."""
    sizes = {"gates": gates, "r": 1 / math.sqrt(cell.width or 1)}
    return _stored(
        cell,
        {
            name: rng.uniform(-1, 1, shape) if name == "h" else sizes.get(name, 1.0) * rng.standard_normal(shape)
            for name, shape in _shapes(cell).items()
        },
    )


def _saturated(rng: np.random.Generator, cell: RecurrentCell) -> dict[str, Array]:
    """Gates of hundreds: their exponentials overflow; every eighth is infinite."""
    found = _random(rng, cell, 300.0)
    gates = found["gates"].reshape(-1)
    gates[::8] = math.inf * np.sign(gates[::8])
    return found


def _same_sign(rng: np.random.Generator, cell: RecurrentCell) -> dict[str, Array]:
    """States and weights above 0 whose products add up to 1 or 2: every rounding of a running sum errs to one side."""
    found, shapes = _random(rng, cell), _shapes(cell)
    h, r = (1 + rng.uniform(0, 0.5, shapes[name]) for name in ("h", "r"))
    return found | _stored(cell, {"h": h, "r": r / cell.width})


def _integers(rng: np.random.Generator, cell: RecurrentCell) -> dict[str, Array]:
    """Small integers, and two weights of 1 or -1 for each element of a gate: with relu everywhere all is an integer."""
    shapes = _shapes(cell)
    r = np.zeros(shapes["r"])
    for _ in range(2):
        r[np.arange(len(r)), rng.integers(0, cell.width, len(r))] = rng.choice([-1, 1], len(r))
    found = {name: rng.integers(-3, 4, shape) for name, shape in shapes.items()}
    return _stored(cell, {**found, "h": rng.integers(-2, 3, shapes["h"]), "r": r})


def _not_finite(rng: np.random.Generator, cell: RecurrentCell) -> dict[str, Array]:
    """As `integers`, with NaN in a gate each of some rows, in a state and in a memory; gates of -inf, which are 0, and memories that are infinite."""
    found, width = _integers(rng, cell), cell.width
    for block in range(cell.blocks):
        found["gates"][block, block * width + block] = math.nan
        found["gates"][block + 4, block * width : (block + 1) * width] = -math.inf
    found["h"][-1, 1] = math.nan
    if "c" in found:
        found["c"][-2] = np.resize([math.nan, math.inf, -math.inf, 1], width)
    return found


CONTENTS: Final[Mapping[str, Contents]] = {
    "random": _random,
    "saturated": _saturated,
    "same-sign": _same_sign,
    "integers": _integers,
    "not-finite": _not_finite,
}
"""By name, from a generator and a descriptor to its operands."""
