"""Random operands arranged such that faults show: pairs that are equal, next to each other or cancel, balanced truths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ep_primitives.cases.data import TRUE_BYTES

if TYPE_CHECKING:
    from ep_primitives.judging.reference import Array

__all__ = ["balanced", "partner"]


def partner(rng: np.random.Generator, first: Array, values: Array) -> Array:
    """Return `values` with exact shares paired to `first`: a third equal, a quarter next above, below or opposite.

    first  : broadcasts with `values`; where it is larger, its first elements are paired
    values : of the same element type; the other shares keep them

    Comparisons, max, min and sums show their faults on such pairs, which independent values hardly ever form.
    """
    near = _aligned(first, values.shape)
    if values.dtype == np.bool_:
        return _every_pair(rng, near, values)
    shares = rng.permutation(np.arange(values.size)).reshape(values.shape) % 12
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if values.dtype.kind in "iu":
            above, below = near + near.dtype.type(1), near - near.dtype.type(1)
        else:
            above, below = _neighbour(near, np.inf), _neighbour(near, -np.inf)
        chosen = [near, near, near, near, above, below, -near]
    return np.select([shares == share for share in range(len(chosen))], chosen, values)


def balanced(rng: np.random.Generator, values: Array, chosen: tuple[Array, Array]) -> Array:
    """Return `values` with a quarter taken from either of two sets: inputs that a test finds false, and true.

    A test that finds all of a type's values true, or all false, leaves nothing to balance.
    """
    if not all(candidates.size for candidates in chosen):
        return values
    shares = rng.permutation(np.arange(values.size)).reshape(values.shape) % 4
    picks = [rng.choice(candidates, values.shape) for candidates in chosen]
    return np.select([shares == 1, shares == 2], picks, values)  # noqa: PLR2004 - the first two shares drawn


def _neighbour(values: Array, end: float) -> Array:
    """Return the next value of each towards an end; of a complex number the next real part."""
    if values.dtype.kind != "c":
        return np.asarray(np.nextafter(values, values.dtype.type(end)))
    moved = values.copy()
    moved.real = np.nextafter(values.real, values.real.dtype.type(end))
    return moved


def _aligned(first: Array, shape: tuple[int, ...]) -> Array:
    """Return `first` over `shape`, repeated where it is smaller and cut where it is larger."""
    first = first[(0,) * max(first.ndim - len(shape), 0)]
    extents = shape[len(shape) - first.ndim :]
    cut = first[
        tuple(slice(None, extent if extent < have else None) for have, extent in zip(first.shape, extents, strict=True))
    ]
    return np.broadcast_to(cut, shape)


def _every_pair(rng: np.random.Generator, first: Array, values: Array) -> Array:
    """Return bools that are true for every second element where `first` is false, and where it is true."""
    order = rng.permutation(np.arange(values.size))
    held = first.reshape(-1)[order].view(np.uint8) != 0
    truth = np.zeros(values.size, np.uint8)
    for side in (False, True):
        places = order[held == side][::2]
        truth[places] = rng.choice(np.array(TRUE_BYTES, np.uint8), places.size)
    return truth.view(np.bool_).reshape(values.shape)
