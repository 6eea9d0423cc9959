"""Cuts: how rows are shared among groups, and in which order a row is summed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ep_simt.packs import held_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep_simt.target import Target

__all__ = ["Cut", "Room"]

_HELD_NBYTES: Final = 16384
"""Of a piece of a row: half of a CPU's first cache."""
_FEW: Final = 32
"""Of a GPU: elements of a row that a work-item takes before more work-items share the row."""
_PIECES_ABREAST: Final = 4
"""A CPU holds so many in the second cache, where it reads rows that lie beside each other line by line."""
_CHAINS: Final = 64
_LINE: Final = 16
"""Of a CPU: chains of a row, which are whole vectors, and rows that share a line of memory."""
_ELEMENTS: Final = 8192
_GROUPS: Final = 64
"""Of a CPU: elements that pay for a group, and groups that keep it busy."""


class Room(NamedTuple):
    """What a group can hold, as the program says it.

    piece  : elements of a row that are held at once; longer rows are cut
    held   : elements of all rows; of a GPU's work-item
    cells  : chains of all rows
    """

    piece: int
    held: int
    cells: int

    @classmethod
    def of(cls, itemsize: int, inputs: int, target: Target) -> Room:
        """Return the room for numbers of so many bytes, each of so many inputs."""
        if target.group == 1:
            piece = _HELD_NBYTES // itemsize
            return cls(piece, _PIECES_ABREAST * piece, _CHAINS * _LINE)
        held = held_of(itemsize) // inputs
        return cls(held * target.group, held, target.group)


class Cut(NamedTuple):
    """How a launch is cut.

    chains  : of a row or piece, a power of two, in which its sum grows
    most    : rows of a tile
    across  : True if neighbouring work-items have neighbouring rows
    tiles   : over all rows
    pieces  : of a row
    run     : tiles of a group, pieces counted
    """

    chains: int
    most: int
    across: bool
    tiles: int
    pieces: int
    run: int

    @property
    def groups(self) -> int:
        """The number of groups."""
        return -(-self.tiles * self.pieces // self.run)

    @classmethod
    def of(cls, shape: Sequence[int], strides: Sequence[Sequence[int]], itemsize: int, target: Target) -> Cut:
        """Return the cut.

        shape     : extents across rows, then the extent of a row
        strides   : of each tensor, in elements: of inputs, of which there is one at least, then of out, if it is written
        itemsize  : bytes of a number as it is computed with
        """
        *outer, extent = shape
        beside = outer[-1] if outer else 1
        room = Room.of(itemsize, max(len(strides) - 1, 1), target)
        held = min(extent, room.piece)
        across = bool(outer) and sum(abs(each[-2]) < abs(each[-1]) for each in strides) * 2 > len(strides)
        if target.group == 1:
            chains = _CHAINS if held > _CHAINS else 1
            padded = -(-held // chains) * chains
            most = min(_LINE if across else 1, room.held // padded) if chains > 1 else min(_CHAINS, room.held // held)
        else:
            chains = min(_power(-(-held // min(room.held, _FEW))), target.group)
            most = target.group // chains
        rows = 1
        for size in outer:
            rows *= size
        tiles, pieces = rows // beside * -(-beside // most), -(-extent // room.piece)
        run = min(_ELEMENTS // (held * most), tiles * pieces // _GROUPS) if target.group == 1 else 1
        return cls(chains, most, across, tiles, pieces, max(run, 1))


def _power(number: int) -> int:
    """Return the least power of two that is not less."""
    return 1 << (number - 1).bit_length()
