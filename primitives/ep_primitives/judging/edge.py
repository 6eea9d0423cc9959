"""Edge rules: the result at an edge, the families that have it, and the cases that prove it."""

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
"""The names of edges that several families have, in the order of the documentation; others come after them."""


class EdgeRule(NamedTuple):
    """The result at an edge.

    edge   : its name
    where  : the families that have the edge
    result : the behaviour there, in words
    cases  : ids of cases, which that makes quick; each fails if a kernel behaves otherwise
    """

    edge: str
    where: str
    result: str
    cases: tuple[str, ...]
