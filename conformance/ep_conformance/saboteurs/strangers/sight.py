"""How conditions look at a launch; nothing here raises, whatever the family."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

import ep

if TYPE_CHECKING:
    from ep_conformance.saboteurs.kernel import Array
    from ep_conformance.saboteurs.strangers.condition import Launch

__all__ = [
    "LARGE",
    "array",
    "axes",
    "begin",
    "end",
    "extents",
    "inner",
    "inputs",
    "is_floating",
    "line",
    "number",
    "row",
    "rows",
    "source",
    "tensors",
    "values",
]

LARGE: Final = 1 << 30
"""More than an extent can be here, for ranges without an end."""

_ROW_TO_THE_LAST: Final = frozenset(["layer_norm", "rms_layer_norm"])


def tensors(launch: Launch) -> dict[str, ep.TensorSpec]:
    """Return the specs of the operands that are tensors."""
    return {name: spec for name, spec in launch.descriptor.present.items() if isinstance(spec, ep.TensorSpec)}


def inputs(launch: Launch) -> dict[str, ep.TensorSpec]:
    """Return the specs of the tensors that are read alone."""
    written = launch.descriptor.written
    return {name: spec for name, spec in tensors(launch).items() if name not in written}


def source(launch: Launch) -> ep.TensorSpec:
    """Return the spec of the first input, or of the output where nothing is read."""
    return next(iter(inputs(launch).values()), launch.descriptor.out)


def extents(launch: Launch) -> tuple[int, ...]:
    """Return the shape of the first input, or of the output where nothing is read."""
    return source(launch).shape


def inner(launch: Launch) -> int:
    """Return the last of these extents, 1 if there is none."""
    return (1, *extents(launch))[-1]


def axes(launch: Launch) -> tuple[int, ...]:
    """Return the dimensions of the first input that a row lies along; () if the family has no rows."""
    of, rank = launch.descriptor, len(extents(launch))
    axis = getattr(of, "axis", None)
    if of.family == "cross_entropy":
        found: tuple[int, ...] = (1,)
    elif of.family in _ROW_TO_THE_LAST and axis is not None:
        found = tuple(range(int(axis), rank))
    else:
        found = tuple(getattr(of, "axes", () if axis is None or isinstance(axis, tuple) else (axis,)))
    return tuple(int(place) for place in found if place < rank)


def row(launch: Launch) -> int:
    """Return how many elements a row has."""
    shape = extents(launch)
    return math.prod(shape[axis] for axis in axes(launch))


def rows(launch: Launch) -> int:
    """Return how many rows there are."""
    return source(launch).size // (row(launch) or 1)


def array(launch: Launch, name: str = "") -> Array | None:
    """Return the contents of an input, of the first one without a name; None if it is absent or no tensor."""
    present = inputs(launch)
    name = name or next(iter(present), "")
    return launch.arrays(name) if name in present and present[name].size else None


def values(held: Array | None) -> Array:
    """Return contents as numbers that NumPy compares: float64 for floating ones; without elements if there are none."""
    if held is None:
        return np.zeros(0)
    with np.errstate(all="ignore"):
        return held.astype(np.float64) if ep.dtype(held.dtype.name).is_floating else held.real


def is_floating(launch: Launch) -> bool:
    """Say whether the first input holds real floating numbers."""
    return ep.dtype(source(launch).dtype).is_floating


def line(launch: Launch) -> Array:
    """Return the first row of the first input, as `values` does."""
    held, along = values(array(launch)), axes(launch)
    if not held.size:
        return held.reshape(-1)
    whole = np.moveaxis(held, along, range(-len(along), 0))
    return np.asarray(whole[(0,) * (held.ndim - len(along))]).reshape(-1)


def number(launch: Launch, name: str) -> complex | None:
    """Return a number that the launch gives; None if the operation has none of this name."""
    if not isinstance(launch.descriptor.present.get(name), ep.Scalar):
        return None
    return complex(np.asarray(launch.arrays(name)).reshape(-1)[0])


def begin(launch: Launch, name: str) -> int:
    """Return the address of the first byte of a tensor; 0 if it is absent."""
    spec = tensors(launch).get(name)
    return 0 if spec is None else launch.addresses.get(name, 0) + spec.lo * spec.itemsize


def end(launch: Launch, name: str) -> int:
    """Return the address behind the last byte of a tensor; 0 if it is absent."""
    spec = tensors(launch).get(name)
    return 0 if spec is None else launch.addresses.get(name, 0) + spec.hi * spec.itemsize
