"""How rows are cut: which work-items of a group share a row, how long its pieces are, and who goes through them.

An extent and the steps along a row of x decide all but the last: so the order of sums is that of a row, however many
rows there are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from ep_simt.elements import kind_of, nbytes_of
from ep_simt.packs import spread_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_simt.target import Target

__all__ = ["ABREAST", "BESIDE", "PIECE", "Cut", "beside_of", "cut_of", "lines_of"]

PIECE: Final = 4096
"""Elements of a piece where a work-item is alone; it joins them one by one."""
ABREAST: Final = 4
"""Rows or pieces that it takes at a time: of eight, 4 KiB apart, all lines are in one set of a cache."""
BESIDE: Final = 128
"""Rows that it takes at a time where they lie side by side in memory, and reads line by line."""
_LINES: Final = {1: 1, 2: 2}
"""Words that a work-item has under way, by the bytes of an element: short elements are many registers."""
_MOST_LINES: Final = 4
_SECTOR: Final = 32
"""Bytes that a GPU fetches at least: elements of a row that lie further apart are fetched beside those of other rows."""
_NEIGHBOURS: Final = 32
"""Rows that neighbours take then: a line of 128 bytes in float32."""
_FILLING: Final = 256
"""Groups that fill a device; fewer would leave it waiting while each goes through its rows."""
_FEW: Final = 4
"""Pieces that a group may go through for two launches less. No GPU has been asked about this number and the one above."""


class Cut(NamedTuple):
    """How a group's work-items share rows.

    lanes   : work-items of a row, a power of two; the group's others have more rows
    across  : True if neighbours among them have neighbouring rows, False if they have neighbouring elements
    pieces  : of a row, the group's share of it at a time
    tiles   : groups that have all rows abreast
    groups  : that share the pieces of a row
    is_one  : True if one goes through all of them
    """

    lanes: int
    across: bool
    pieces: int
    tiles: int
    groups: int
    is_one: bool


def lines_of(element: str) -> int:
    """Return how many words of neighbours a work-item has."""
    return _LINES.get(nbytes_of(element), _MOST_LINES)


def cut_of(element: str, extent: int, step: int, rows: int, target: Target) -> Cut:
    """Return the cut of so many rows of an extent, whose elements of x lie `step` elements apart."""
    if target.group == 1:
        pieces = -(-extent // PIECE)
        is_abreast = pieces == 1 and kind_of(element) != "COMPLEX"
        tiles, groups = -(-rows // ABREAST) if is_abreast else rows, -(-pieces // ABREAST)
        return Cut(1, across=False, pieces=pieces, tiles=tiles, groups=groups, is_one=pieces == 1)
    run = lines_of(element) * spread_of((element,), target)
    across = abs(step) * nbytes_of(element) >= _SECTOR
    most = max(1, target.group // _NEIGHBOURS) if across else target.group
    lanes = min(most, 1 << (-(-extent // run) - 1).bit_length())
    pieces = -(-extent // (lanes * run))
    tiles = -(-rows // (target.group // lanes))
    is_one = pieces <= _FEW or tiles >= _FILLING
    return Cut(lanes, across=across, pieces=pieces, tiles=tiles, groups=pieces, is_one=is_one)


def beside_of(element: str, shape: Sequence[int], strides: Sequence[Sequence[int]]) -> int:
    """Return how many work-items that are alone take rows side by side, all there are; 0 where rows lie otherwise.

    shape    : extents of the dimensions that number the rows, then of a row, which is one piece
    strides  : of both tensors, for all of them
    """
    if len(shape) == 1 or kind_of(element) == "COMPLEX" or any(steps[-2] != 1 for steps in strides):
        return 0
    return math.prod(shape[:-2]) * -(-shape[-2] // BESIDE) if shape[-2] >= 2 * ABREAST else 0
