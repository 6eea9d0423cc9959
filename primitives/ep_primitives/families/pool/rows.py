"""The rows of Pool: how an element of y is computed from its window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ep_primitives.elementwise.op import FLOATS, REALS
from ep_primitives.families.reduce.rows import REDUCE_OPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.judging.accuracy import Accuracy

__all__ = ["POOL_OPS", "PoolOp"]


@dataclass(frozen=True)
class PoolOp:
    """One way to pool; in definitions the x_i are the elements of x that a window touches.

    name      : as in descriptors and cells
    reduction : the row of Reduce that gives its result and its bound; places outside x have its identity, or 0
    dtypes    : the element types of x and y
    source    : where the definition comes from
    accuracy  : the bound in words
    """

    name: str
    reduction: str
    dtypes: tuple[str, ...]
    definition: str
    source: str
    accuracy: str
    note: str = ""
    since: str = "1.1"

    def accuracy_of(self, dtype: str, n: int) -> Accuracy:
        """Return the accuracy of results of windows of n elements."""
        return REDUCE_OPS[self.reduction].accuracy_of(dtype, dtype, n)

    def beside(self, dtype: str) -> float:
        """Return the value of places outside x, which changes no result."""
        return REDUCE_OPS[self.reduction].identity_of(dtype) if self.reduction == "max" else 0


_BOUND: Final = "n the elements of a window, those beside x too"

_ROWS: Final = (
    PoolOp(
        "max",
        "max",
        REALS,
        definition="the largest x_i",
        source="ONNX, MaxPool; PyTorch, max_pool1d to max_pool3d; IEEE 754-2019, maximum: NaN wins over all, -0 < +0",
        accuracy="exact",
        note="of no element -inf, of integers the lowest value",
    ),
    PoolOp(
        "average",
        "mean",
        FLOATS,
        definition="(x_1 + x_2 + ...) / m, m the number of x_i; with counts_pads also of pads that the window touches",
        source="ONNX, AveragePool and its count_include_pad; PyTorch, avg_pool1d to avg_pool3d",
        accuracy=f"as reduce/mean: (k(n) + 1) eps S, S = (|x_1| + |x_2| + ...) / m, {_BOUND}",
        note="of no element NaN, unless pads count",
    ),
    PoolOp(
        "norm_1",
        "norm_1",
        FLOATS,
        definition="|x_1| + |x_2| + ...",
        source="ONNX, LpPool with p = 1",
        accuracy=f"as reduce/norm_1: k(n) eps S, S = the value, {_BOUND}",
        note="of no element 0",
    ),
    PoolOp(
        "norm_2",
        "norm_2",
        FLOATS,
        definition="sqrt(x_1^2 + x_2^2 + ...)",
        source="ONNX, LpPool with p = 2; PyTorch, lp_pool1d to lp_pool3d",
        accuracy=f"as reduce/norm_2: (k / 2 + 1) eps S, S = the value, {_BOUND}",
        note="of no element 0; nothing overflows where the result does not",
    ),
)

POOL_OPS: Final[Mapping[str, PoolOp]] = {row.name: row for row in _ROWS}
"""The ways to pool by name."""
