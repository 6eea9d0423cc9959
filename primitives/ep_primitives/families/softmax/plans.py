"""The plans of the softmaxes' cases, by layout of the cell: the operands' layouts, and the purpose of each case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives.cases.along import DEEP, LAID_OUT, Plan, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["PLANS"]

# Below, at and above vectors, the blocks of a sum, and the parts that a kernel keeps in caches.
_EXTENTS: Final = ((9, 1), (5, 2), (4, 7), (3, 15), (5, 16), (4, 17), (2, 31), (3, 33), (5, 63), (3, 64), (2, 65))
_LONGER: Final = ((3, 127), (4, 128), (3, 255), (2, 257), (3, 511), (2, 513), (2, 1025), (2, 4097), (1, 16411))
# More rows than are worked on at once, by no whole number of times.
_BATCHES: Final = ((261, 10), (70, 65))
_STANDARD: Final = ((300, 10), (70001, 3), (70, 1000), (3, 8192), (2, 65537), (1, 262147))

_ALONG: Final[tuple[tuple[tuple[int, ...], int], ...]] = (
    ((33, 17), 0),
    ((5, 67), 0),
    ((4, 19, 35), 1),
    ((515, 67), 0),
    ((2, 3, 4, 5), -3),
)
"""Shapes, and an axis that is not the last."""


def _dense(inputs: int) -> Iterator[Plan]:
    yield plain("rows", (7, 33), inputs)
    for shapes, profile in ((_EXTENTS + _LONGER + _BATCHES, "quick"), (_STANDARD, "standard")):
        for shape in shapes:
            yield plain("x".join(map(str, shape)), shape, inputs, profile=profile)
    for extents, axis in _ALONG:
        yield plain(f"{'x'.join(map(str, extents))}-axis{axis}", extents, inputs, axis)
    yield plain("4099x18-axis0", (4099, 18), inputs, 0, profile="standard")
    for axis in (0, 9, -1):
        yield plain(f"rank-16-axis{axis}", DEEP, inputs, axis)
    for contents in _CONTENTS[inputs]:
        yield plain(contents, (12, 37), inputs, contents=contents)
        yield plain(f"{contents}-axis0", (37, 12), inputs, 0, contents=contents)
    for shape in ((3, 1025), (1, 16411)):
        yield plain(f"same-sign-{shape[1]}", shape, inputs, contents="same-sign")
    yield plain("same-sign-1025-axis0", (1025, 6), inputs, 0, contents="same-sign")
    yield plain("same-sign-262147", (2, 262147), inputs, contents="same-sign", profile="standard")
    if inputs == 1:
        yield plain("last-is-largest-4097", (2, 4097), inputs, contents="last-is-largest")
    else:
        yield plain("one-sign", (256, 257), inputs, contents="one-sign", summands=257)
    yield plain("special-rows", (1, 8), inputs, contents="special-rows")
    for shape in ((24, 37), (11, 1025)):
        yield plain(f"exact-{shape[1]}", shape, inputs, contents="exact")
    yield plain("exact-axis0", (67, 24), inputs, 0, contents="exact")


_CONTENTS: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("far-from-zero", "last-is-largest", "subnormal", "near-overflow", "huge"),
    2: ("cancelling", "last-is-largest", "any-y"),
}
"""By number of inputs, the shapes that have plans along both axes."""

PLANS: Final[Mapping[str, Callable[[int], Iterator[Plan]]]] = {"dense": _dense, **LAID_OUT}
"""By layout, the function that makes its plans for a number of inputs; the first one is typical."""
