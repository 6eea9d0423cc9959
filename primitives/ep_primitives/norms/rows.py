"""Rows of the norms over the last dimensions: their situations, and the shapes that these mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep_primitives.norms.situations import BESIDE, NORM_ROWS
from ep_primitives.situations.model import Dimension
from ep_primitives.situations.rows import LARGE, row_extent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from ep_primitives.situations.model import Situation

__all__ = ["FLAT", "SHAPE", "rows_shape"]

SHAPE: Final = (
    NORM_ROWS,
    BESIDE,
    Dimension("rank", ("2", "1", "3", "16")),
    Dimension("of", ("one", "two")),
)
"""Rank: without the second dimension of a row. Of: how many dimensions a row has."""
FLAT: Final[Mapping[str, str]] = {"rank": "1", "of": "one"}

_OUTER: Final = (2, 1, 3, 1, 2, 1, 1, 2, 1, 1, 1, 2, 1, 1)


def rows_shape(layout: str, situation: Situation, random: Random) -> tuple[tuple[int, ...], int]:
    """Return the shape of x, and the first dimension of a row, from 0 on."""
    if layout == "rank0":
        return (), 0
    if layout == "empty":
        a = random.randint(2, 5)
        return {"samples": ((0, a), 1), "inner": ((a, 0), 1), "both": ((a, 0, 3), 1)}[situation["empty"]]
    words = [situation.get(each.name, each.values[0]) for each in SHAPE]
    row, beside, rank, of = words
    most = 2 if row in LARGE or beside in LARGE else 16
    within = (random.choice((2, 3)),) if of == "two" else ()
    last = row_extent(random, row, most=most)
    outer = {
        "1": (),
        "2": (row_extent(random, beside, most=most),),
        "3": (2, row_extent(random, beside, most=most)),
        "16": _OUTER if within else (*_OUTER, 1),
    }[rank]
    return (*outer, *within, last), len(outer)
