"""Rows as rows.h reads them: strides along a row, then across all rows, of each tensor, packed."""

from __future__ import annotations

import functools
import math
import struct
from typing import TYPE_CHECKING, Final

from ep_simt.program import Parameter
from ep_simt.program import struct as structure

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["group_words", "packed_rows", "rows_parameter", "rows_words"]

_MAX_RANK: Final = 17
_HEAD: Final = 4
_CHAINS: Final = 32
"""Of a work-item that is a loop: four vectors of float32 at 32 bytes, which a processor's adders take in at once."""


def rows_parameter(columns: int, *, wide: bool) -> Parameter:
    """Return the parameter of the geometry of so many tensors."""
    return structure("rows", "ep_rows", _form(columns, wide=wide).size)


def rows_words(columns: int, group: int, *, wide: bool) -> dict[str, object]:
    """Return the words that rows.h, fold.h and kernels with a group a row need."""
    return {"EP_COLUMNS": columns, "EP_WIDE": int(wide), **group_words(group)}


def group_words(group: int) -> dict[str, object]:
    """Return the words of fold.h: the size of a group, and the chains that each of its work-items has side by side."""
    return {"EP_GROUP": group, "EP_CHAINS": _CHAINS if group == 1 else 1}


def packed_rows(shape: Sequence[int], strides: Sequence[Sequence[int]], first: int, *, wide: bool) -> bytes:
    """Return the geometry.

    shape    : extents of the dimensions that number the rows, then, from `first` on, of a row's own
    strides  : of each tensor, in elements, for all of them
    """
    rows, extent = math.prod(shape[:first]), math.prod(shape[first:])
    along, across = [*range(len(shape) - 1, first - 1, -1)] or [-1], [*range(first - 1, -1, -1)] or [-1]
    padding = (0,) * (_MAX_RANK - len(along) - len(across))
    numbers = [len(along), len(across), extent, rows]
    for values, absent in ((shape, 1), *((own, 0) for own in strides)):
        numbers += [absent if axis < 0 else values[axis] for axis in (*along, *across)]
        numbers += padding
    return _form(len(strides), wide=wide).pack(*numbers)


@functools.cache
def _form(columns: int, *, wide: bool) -> struct.Struct:
    return struct.Struct(f"<{_HEAD + _MAX_RANK * (1 + columns)}{'q' if wide else 'i'}")
