"""What happens at an edge, where that is, and the cases that prove it."""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["EDGES", "EdgeRule"]

EDGES: Final = (
    "no output elements",
    "rows of nothing",
    "axes of one element",
    "rows of equal elements",
    "windows beyond x",
    "windows of no element",
    "rows that masks leave nothing",
    "rank 0 and 16",
    "negative strides",
    "zero strides",
    "windows that share elements: strides smaller than extents",
    "in place",
    "NaN",
    "infinities",
    "softmax rows",
    "ties",
    "order",
    "signed zero",
    "index out of range",
    "conditions",
    "permutations",
    "counts of pad",
    "ties in rounding",
    "overflow",
    "counts of bits",
    "equal launches",
    "neighbours",
)
"""The names of those that several families have, in the order of the documentation; others stand behind them."""


class EdgeRule(NamedTuple):
    """What happens at an edge.

    edge   : its name
    where  : the families that it is a matter of
    result : what happens there
    cases  : ids of quick cases, each of which fails where it does not
    """

    edge: str
    where: str
    result: str
    cases: tuple[str, ...]
