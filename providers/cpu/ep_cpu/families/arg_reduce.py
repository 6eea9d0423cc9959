"""Places of the largest and smallest elements: lanes remember in which of their rows the best one came first."""

from __future__ import annotations

from typing import Final

from ep_primitives import ArgReduce

from ep_cpu.families.reduce import RowPlanned

__all__ = ["IMPLEMENTATIONS", "LaneSearch"]


class LaneSearch(RowPlanned):
    """Vector lanes along a row or across rows, each with its best element; any strides, of any instruction set."""


IMPLEMENTATIONS: Final = {ArgReduce: (LaneSearch(),)}
