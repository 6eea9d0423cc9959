"""Extents of rows and beside them, for families that make results of rows: by residue and by magnitude."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ep import TensorSpec
from ep_primitives.situations.extents import by_rest
from ep_primitives.situations.forms import laid
from ep_primitives.situations.manner import starts
from ep_primitives.situations.model import Dimension

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from ep_primitives.cases.arrangement import Form

__all__ = ["BESIDE", "LARGE", "ROW", "few_starts", "lying", "row_extent"]

ROW: Final = Dimension("row", ("4k1", "4k", "4k2", "4k3", "few", "one", "block", "long", "past"), late=("past",))
"""The innermost extent of a row, by its rest modulo a vector of four; few are 2 or 3; a block has 1,024, long is beyond four
of them, past is beyond 16 bits."""

BESIDE: Final = Dimension("beside", ("4k1", "4k", "4k2", "4k3", "few", "block", "many"), late=("many",))
"""The innermost extent beside rows; many are beyond 65,535 groups."""

LARGE: Final = ("block", "long", "past", "many")
"""Extents beside which all others are small."""

_LEAST: Final = {"block": 1025, "long": 4097, "past": 65537, "many": 70001}


def row_extent(random: Random, word: str, *, most: int = 16) -> int:
    """Return the extent of a word of ROW or of BESIDE.

    most : of the vectors of four in an extent that is named by its rest
    """
    if word == "one":
        return 1
    if word == "few":
        return random.choice((2, 3))
    if word in _LEAST:
        least = _LEAST[word]
        return random.choice((least - 1, least, least + random.randint(0, 40)))
    return by_rest(random, int(word[2:] or 0), most)


def lying(  # noqa: PLR0913 - a form has so many sides
    random: Random,
    word: str,
    shape: Sequence[int],
    offset: int = 0,
    *,
    is_out: bool = False,
    spared: int | None = None,
) -> Form:
    """Return a form of a shape as `laid` does, but one that is dense only if its word says so.

    offset : of the lowest element
    spared : the axis that `zero-first` does not repeat, where it has another one
    """
    form = laid(random, word, shape, offset=offset, is_out=is_out, spared=spared)
    if word != "dense" and TensorSpec("int8", *form).is_dense:
        return laid(random, "step", shape, offset=offset)
    return form


def few_starts(*operands: str) -> tuple[Dimension, ...]:
    """Return a dimension for each operand of where its memory begins, as `starts`, of the three kinds of places alone."""
    return tuple(Dimension(each.name, ("0", "1", "16B")) for each in starts(*operands))
