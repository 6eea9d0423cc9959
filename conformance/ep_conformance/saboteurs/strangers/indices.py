"""Conditions of contents that steer: indices, labels, conditions, masks, zero points, the state of a generator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

import ep
from ep_conformance.saboteurs.strangers.condition import Condition
from ep_conformance.saboteurs.strangers.sight import array, extents, inputs, tensors

if TYPE_CHECKING:
    from ep_conformance.saboteurs.kernel import Array
    from ep_conformance.saboteurs.strangers.condition import Launch

__all__ = ["CONDITIONS"]

_WORD: Final = 1 << 32
_BLOCK: Final = 4
_ANYWHERE: Final = ("dense", "strided")
_INDEXED: Final = ("gather", "one_hot", "cross_entropy")


def _indices(launch: Launch) -> list[int]:
    """Return indices or labels, without elements if the family has none."""
    for name in ("indices", "labels"):
        held = array(launch, name)
        if held is not None:
            return [int(index) for index in held.reshape(-1)]
    return []


def _counted(launch: Launch) -> int:
    """Return how many places indices can name."""
    of = launch.descriptor
    return int(getattr(of, "classes", 0) or getattr(of, "extent", 0) or (*extents(launch), 1, 1)[1])


def _ignored(launch: Launch) -> list[bool]:
    ignored = getattr(launch.descriptor, "ignore_index", None)
    return [index == ignored for index in _indices(launch)]


def _mask(launch: Launch) -> Array:
    """Return a mask of bools, a row for each query; without rows if there is none."""
    held = array(launch, "mask")
    return (
        held.reshape(-1, held.shape[-1])
        if held is not None and held.ndim and held.dtype == bool
        else np.zeros((0, 1), bool)
    )


def _state(launch: Launch) -> tuple[int, int]:
    """Return the seed of a generator and the number of its next word."""
    if "state" not in tensors(launch):
        return 0, 0
    seed, word = (int(number) for number in np.asarray(launch.arrays("state")).reshape(-1)[:2])
    return seed, word


def _carries(launch: Launch) -> bool:
    if "state" not in tensors(launch):
        return False
    first, behind = _state(launch)[1], _state(launch)[1] + int(getattr(launch.descriptor, "words", 0))
    return first // _BLOCK // _WORD < behind // _BLOCK // _WORD


def _zero_points(launch: Launch) -> set[int]:
    held = array(launch, "zero_point")
    return set() if held is None else {int(number) for number in held.reshape(-1)}


def _is_at_an_end(launch: Launch) -> bool:
    spec = inputs(launch).get("zero_point")
    return spec is not None and not _zero_points(launch).isdisjoint(ep.dtype(spec.dtype).range)


CONDITIONS: Final = (
    Condition(
        "all-indices-equal",
        "Neighbouring threads that ask for one row share a load, or take turns at it.",
        _INDEXED,
        _ANYWHERE,
        lambda launch: len(_indices(launch)) > 1 and len({*_indices(launch)}) == 1,
    ),
    Condition(
        "first-and-last-index",
        "The last row is clamped to the one before it, by a limit that is off by one.",
        ("gather", "one_hot", "cross_entropy"),
        _ANYWHERE,
        lambda launch: (
            {getattr(launch.descriptor, "first", 0), getattr(launch.descriptor, "first", 0) + _counted(launch) - 1}
            <= {*_indices(launch)}
        ),
    ),
    Condition(
        "index-below-zero",
        "A negative index is counted from the end, or is a large one without a sign (PyTorch#169779, #151918).",
        _INDEXED,
        ("dense",),
        lambda launch: min(_indices(launch), default=0) < 0,
    ),
    Condition(
        "index-past-32-bits",
        "Indices of 64 bits are cut to 32, and what is out of range comes back into it.",
        _INDEXED,
        ("dense",),
        lambda launch: any(index >= _WORD and index % _WORD < _counted(launch) for index in _indices(launch)),
    ),
    Condition(
        "first-label-is-ignored",
        "The mean's weight is begun with the first label, whether it counts or not.",
        ("cross_entropy",),
        _ANYWHERE,
        lambda launch: _ignored(launch)[:1] == [True] and not all(_ignored(launch)),
    ),
    Condition(
        "every-label-is-ignored",
        "A sum over nothing keeps what memory held, and a mean divides by 1 in place of 0.",
        ("cross_entropy",),
        ("dense",),
        lambda launch: len(_ignored(launch)) > 0 and all(_ignored(launch)),
    ),
    Condition(
        "mask-leaves-out-the-first-key",
        "The running maximum of a row is -inf until the first key that counts, and rescaling gives NaN.",
        ("attention",),
        _ANYWHERE,
        lambda launch: bool((~_mask(launch)[:, 0] & _mask(launch).any(axis=1)).any()),
    ),
    Condition(
        "mask-leaves-out-a-row",
        "A query without any key divides by a sum of 0 (PyTorch's fused attention gave NaN).",
        ("attention",),
        ("dense",),
        lambda launch: bool((~_mask(launch).any(axis=1)).any()),
    ),
    Condition(
        "condition-of-one-side",
        "A whole vector takes one side by a branch, and the pointer of the other side is not moved on.",
        ("where",),
        _ANYWHERE,
        lambda launch: len({*(held != 0).reshape(-1)}) == 1 if (held := array(launch)) is not None else False,
    ),
    Condition(
        "state-amid-a-block",
        "Generators of four words a block begin again at a block's first word.",
        ("random_fill",),
        ("dense", "strided", "offset"),
        lambda launch: _state(launch)[1] % _BLOCK > 0,
    ),
    Condition(
        "counter-carries",
        "The low word of a generator's counter runs over, and the high one does not move.",
        ("random_fill",),
        ("dense",),
        _carries,
    ),
    Condition(
        "seed-past-32-bits",
        "A seed of 64 bits is cut to the low half of the key.",
        ("random_fill",),
        ("dense",),
        lambda launch: _state(launch)[0] >= _WORD,
    ),
    Condition(
        "zero-point-at-an-end",
        "x - zero_point is made in the type of x, where the difference overflows.",
        ("quantize", "dequantize"),
        ("dense",),
        _is_at_an_end,
    ),
)
"""By theme, each with the mistake that it is taken from."""
