"""The rows of Pad: which element of x stands at an index of out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ep_primitives.judging.reference import Array

__all__ = ["PAD_OPS", "PadOp"]

_NOWHERE: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class PadOp:
    """One way to continue a tensor beyond its ends, by dimensions. In definitions j = i - before, n = extent of x.

    name       : as in descriptors and cells
    source     : where definition and name come from
    index      : from every j and n to the index of x, -1 for the value; n may be 0 where nothing is read
    most       : from n to the largest count on either side, None for any
    least      : the smallest count, None for any
    limit      : the largest count in words
    """

    name: str
    index: Callable[[Array, int], Array]
    most: Callable[[int], int | None]
    least: int | None = 0
    limit: str = ""
    definition: str = ""
    source: str = ""
    note: str = ""
    since: str = "1.0"

    @property
    def has_value(self) -> bool:
        """True if a launch gives a number for places without an element of x."""
        return self.least is None


def _constant(j: Array, n: int) -> Array:
    return np.where((j >= 0) & (j < n), j, _NOWHERE)


def _reflect(j: Array, n: int) -> Array:
    return np.where(j < n, np.abs(j), 2 * (n - 1) - j)


def _edge(j: Array, n: int) -> Array:
    return np.clip(j, 0, n - 1)


def _circular(j: Array, n: int) -> Array:
    return j % n


_ROWS: Final = (
    PadOp(
        "constant",
        _constant,
        most=lambda _: None,
        least=None,
        definition="out[i] = x[j] if 0 <= j < n in every dimension, else value",
        source="numpy.pad, mode 'constant'; a negative count crops, as in OneFlow's constant_pad and PyTorch's pad",
        note="counts may crop more than there is: what is not an element of x is the value",
    ),
    PadOp(
        "reflect",
        _reflect,
        most=lambda n: n - 1,
        limit="the extent less one, because the border is not repeated",
        definition="out[i] = x[|j|] if j < n, else x[2 (n - 1) - j]: a mirror on the centre of the border element",
        source="numpy.pad, mode 'reflect', of counts that need one reflection; OneFlow's reflection_pad",
    ),
    PadOp(
        "edge",
        _edge,
        most=lambda n: None if n else 0,
        limit="because there is no edge",
        definition="out[i] = x[min(max(j, 0), n - 1)]",
        source="numpy.pad, mode 'edge'; OneFlow's replication_pad",
    ),
    PadOp(
        "circular",
        _circular,
        most=lambda n: n,
        limit="the extent",
        definition="out[i] = x[j mod n], the least non-negative remainder",
        source="numpy.pad, mode 'wrap', of counts up to the extent; PyTorch's pad, mode 'circular'",
    ),
)

PAD_OPS: Final[Mapping[str, PadOp]] = {row.name: row for row in _ROWS}
"""The modes by name."""
