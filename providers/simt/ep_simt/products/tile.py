"""Tiles and lines: how much of a product a group makes at once, as tiles.inc and lines.h read it."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["LINE_DEPTH", "Line", "Tile", "line_of", "tile_of"]

LINE_DEPTH: Final = 256
"""Products that a cell sums one after the other: in float32 those of 258 bytes are exact."""


class Tile(NamedTuple):
    """The tile of a group.

    block_rows, block_columns  : of the elements whose sums a work-item keeps in registers at once
    down, across               : blocks of the tile; as many as work-items, but that a single one has them all
    depth                      : elements of a row of a, and of a column of b, that are in shared memory at once
    left_pitch, right_pitch    : elements from one row of a to the next there, and of b, of one part if they are complex
    """

    block_rows: int
    block_columns: int
    down: int
    across: int
    depth: int
    left_pitch: int
    right_pitch: int

    @property
    def rows(self) -> int:
        """Rows of the product."""
        return self.down * self.block_rows

    @property
    def columns(self) -> int:
        """Columns of the product."""
        return self.across * self.block_columns

    @property
    def words(self) -> dict[str, object]:
        """The words of tiles.inc that say so."""
        return {
            "EP_BLOCK_ROWS": self.block_rows,
            "EP_BLOCK_COLUMNS": self.block_columns,
            "EP_DOWN": self.down,
            "EP_ACROSS": self.across,
            "EP_DEPTH": self.depth,
            "EP_LEFT_PITCH": self.left_pitch,
            "EP_RIGHT_PITCH": self.right_pitch,
        }


def tile_of(group: int, itemsize: int, *, is_complex: bool) -> Tile:
    """Return the tile for a group of so many work-items.

    itemsize    : bytes of a sum, of one part if it is complex
    is_complex  : True if each element is two sums
    """
    parts = 2 if is_complex else 1
    if group > 1:
        across = 1 << (group.bit_length() // 2)
        block_columns = 4 // parts
        depth = 16
        # One more than a power of two: neighbours that write down a column of the tile meet no bank twice.
        return Tile(4, block_columns, group // across, across, depth, depth + 1, across * block_columns + 1)
    # Blocks fill eight vector registers of 32 bytes. Factors and totals fit into 256 KiB, which is a cache, and all the shared
    # memory of some processors' runtimes. A cache line more than a power of two: rows that lie below one another meet in
    # no set of a cache.
    line, block_columns, depth = 64 // itemsize, 64 // itemsize // parts, 1024 // itemsize // parts**2
    across = 4 * parts
    down = 32 * 4 // itemsize
    return Tile(4, block_columns, down, across, depth, depth + line, across * block_columns + line)


class Line(NamedTuple):
    """The cells of a work-item.

    columns  : of a row
    shares   : of the depth of one element
    """

    columns: int
    shares: int

    @property
    def words(self) -> dict[str, object]:
        """The words of lines.h that say so."""
        return {"EP_LINE": self.columns, "EP_SHARES": self.shares, "EP_LINE_DEPTH": LINE_DEPTH}


def line_of(group: int, itemsize: int, *, is_complex: bool) -> Line:
    """Return the line for a group of so many work-items; one alone has 4 KiB of sums. The parameters are those of `tile_of`."""
    return Line(1, 1) if group > 1 else Line(4096 // itemsize // (2 if is_complex else 1), 64)
