"""Tiles of attention: the queries, keys and columns that a group has at once, as attention.inc reads them."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["MOST_WORK_ITEMS", "Tile", "tile_of"]

MOST_WORK_ITEMS: Final = 256
"""Of a group: the tiles of larger ones would not fit."""


class Tile(NamedTuple):
    """The tile of a group.

    rows                         : queries
    keys                         : of a block, which the tile meets at once
    columns, width               : of the values that a group makes, and those that are in shared memory at once
    depth                        : columns of q and k that are there at once, and keys of v
    block_rows, block_columns    : of the sums that a work-item keeps in registers
    padding                      : elements by which a line is longer there
    abreast                      : work-items that share a row of scores
    """

    rows: int
    keys: int
    columns: int
    width: int
    depth: int
    block_rows: int
    block_columns: int
    padding: int
    abreast: int

    @property
    def words(self) -> dict[str, object]:
        """The words of attention.inc that say so."""
        return {
            "EP_TILE_ROWS": self.rows,
            "EP_KEYS": self.keys,
            "EP_TILE_COLUMNS": self.columns,
            "EP_WIDTH": self.width,
            "EP_DEPTH": self.depth,
            "EP_BLOCK_ROWS": self.block_rows,
            "EP_BLOCK_COLUMNS": self.block_columns,
            "EP_ABREAST": self.abreast,
            "EP_LEFT_PITCH": self.depth + self.padding,
            "EP_RIGHT_PITCH": max(self.keys, self.width) + self.padding,
            "EP_SCORES_PITCH": self.keys + self.padding,
            "EP_TOTALS_PITCH": self.columns + self.padding,
        }


def tile_of(group: int, itemsize: int) -> Tile:
    """Return the tile for a group of so many work-items.

    itemsize  : bytes of a score
    """
    if group > 1:
        # Within 32 KiB for 256 work-items, the least that GPUs have. Lines are padded as those of products.
        across, block_rows, block_columns = 1 << (group.bit_length() // 2), 8 // itemsize, 16 // itemsize
        rows, keys = block_rows * (group // across), across * block_columns
        return Tile(rows, keys, 2 * keys, keys, 16, block_rows, block_columns, 1, group // rows)
    # A block fills eight vector registers of 32 bytes; all is within 256 KiB, as the tiles of products.
    line = 64 // itemsize
    return Tile(64, 4 * line, 8 * line, 8 * line, 8 * line, 4, line, line, 1)
