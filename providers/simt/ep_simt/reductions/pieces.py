"""Pieces: how rows are cut for the kernels of reductions. Extents and strides of a row alone decide, so its bits do not depend on others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from ep.layout.dims import Geometry

    from ep_simt.target import Target

__all__ = ["Pieces", "is_window", "lanes", "levels_of", "tile"]

_FOUR: Final = 4
_SHORT: Final = 64
"""Elements that a work-item joins alone: no more of a row, and no fewer in a run whose lanes are worth their while."""
_SHORT_OF_GROUP: Final = 16
"""The same where work-items share rows."""
_PAYS: Final = 64
"""Elements that pay for a work-item that fetches several at once, and has to find its row first."""
_LINE: Final = 4
"""Work-items of a row that read a line of memory together, whatever they pay."""
_REACH: Final = 32
"""Elements from the first to the last of a window's run."""


class Pieces(NamedTuple):
    """The pieces of a row, `number` of them.

    is_along  : True if work-items go along runs, whose elements are neighbours; False if each takes rows of its own
    span      : work-items of a piece
    outer     : the runs of a row
    cuts      : pieces of a run, of `length` elements, or 1
    runs      : whole runs of a piece, or 1
    """

    is_along: bool
    span: int
    outer: int
    cuts: int
    runs: int
    length: int
    number: int


def lanes(target: Target) -> int:
    """Return the states that a work-item has side by side along a run: vectors that stay in registers where it is a loop."""
    return 32 if target.group == 1 else 1


def tile(target: Target) -> int:
    """Return the rows that a work-item takes side by side."""
    return 2048 if target.group == 1 else 1


def is_window(reduced: Geometry, target: Target) -> bool:
    """Return True for a row of short runs, whose elements lie close: its runs are joined to one, then the elements of that."""
    if not reduced.shape or 0 in reduced.shape:
        return False
    run, step = reduced.shape[-1], reduced.strides[0][-1]
    runs = math.prod(reduced.shape[:-1])
    return run < 2 * _FOUR and step > 0 and (run - 1) * step <= _REACH and runs + run <= _depth(target)


def levels_of(reduced: Geometry, target: Target, spread: int = 1) -> tuple[Pieces, ...]:
    """Return the pieces of a row of x, then of the states that these leave, until there is one.

    spread : elements that a work-item takes at once

    A state takes in up to 4 times `_depth` elements, four at a time, and states are joined in pairs: up to three levels have no
    element meet more roundings than `summation` in ep_primitives allows.
    """
    levels = [_pieces(reduced, target, spread)]
    while levels[-1].number > 1:
        levels.append(_pieces_of_run(1, levels[-1].number, target, is_along=True))
    return tuple(levels)


def _pieces(reduced: Geometry, target: Target, spread: int) -> Pieces:
    terms = math.prod(reduced.shape)
    if not terms:
        return Pieces(is_along=False, span=1, outer=0, cuts=1, runs=0, length=0, number=1)
    run, step = (reduced.shape[-1], reduced.strides[0][-1]) if reduced.shape else (1, 1)
    is_along = step == 1 and (run >= _SHORT and terms > _SHORT if target.group == 1 else run >= _SHORT_OF_GROUP)
    return _pieces_of_run(terms // run, run, target, is_along=is_along, spread=spread)


def _pieces_of_run(outer: int, run: int, target: Target, *, is_along: bool, spread: int = 1) -> Pieces:
    """Return the pieces of `outer` runs."""
    span = _span(run, target, spread) if is_along else 1
    unit = lanes(target) * span if is_along else 1
    most = _depth(target) * _FOUR * unit
    if run > most:
        cuts = -(-run // most)
        return Pieces(is_along, span, outer, cuts, 1, most, outer * cuts)
    joins = _joins(run, lanes(target) * span) if is_along else _joins_across(run)
    runs = min(outer, max(1, _depth(target) // joins))
    return Pieces(is_along, span, outer, 1, runs, run, -(-outer // runs))


def _joins(run: int, unit: int) -> int:
    """Return how often a state takes in elements of a run, the most of all states: four at once, one, then perhaps one more."""
    return run // (_FOUR * unit) + run % (_FOUR * unit) // unit + (run % unit > 0)


def _joins_across(run: int) -> int:
    """Return the same for a state that takes in all of a run: twice four at once, then one by one."""
    return run // (2 * _FOUR) * 2 + run % (2 * _FOUR)


def _depth(target: Target) -> int:
    return 32 if target.group == 1 else 16


def _span(run: int, target: Target, spread: int) -> int:
    """Return a power of two: enough work-items for a run, each of which takes so many elements at once."""
    if spread == 1:
        return min(target.group, _power(run // _FOUR))
    return min(target.group, max(_power(run // _PAYS), min(_LINE, _power(run // spread))))


def _power(number: int) -> int:
    """Return the greatest power of two that is not more, or 1."""
    return 1 << max(number.bit_length() - 1, 0)
