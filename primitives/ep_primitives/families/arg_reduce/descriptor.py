"""Family ArgReduce: the place of the largest or smallest element of x along an axis, or of all of x.

shapes       : out has the shape of x with an extent of 1 at the axis, or without it; without an axis the place is counted
               in row-major order of all of x, for any strides, and out has one element; rank 0 has no axis. Any strides
dtypes       : x is bool or real; out int64, or int32 if it holds every place
accumulation : values are compared as they are stored; a bool is true if its byte is not 0
NaN          : the first NaN of a row wins over everything
infinities   : are the largest and the smallest number
ties         : the first of equal elements wins
signed zero  : -0 equals +0
empty        : a row of nothing has no place: an axis of extent 0 is refused where out has elements; an output without
               elements is legal and nothing is launched
determinism  : always the same bits
in place     : x and out share no byte
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from ep.integers import integer

from ep_primitives.descriptors.validation import (
    agreed,
    check_dtype,
    check_output,
    check_spec,
    chosen_row,
    described,
    dtype_name,
    flag,
)
from ep_primitives.elementwise.op import REALS
from ep_primitives.reductions.dimensions import Reduction, check_shapes, reduced_output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep.layout.dims import Geometry

    from ep import TensorSpec

__all__ = ["ARG_REDUCE_DTYPES", "ARG_REDUCE_OPS", "ArgReduce", "ArgReduceOp"]


@dataclass(frozen=True, slots=True)
class ArgReduceOp:
    """One op, over the elements x_0, x_1, ... of a row; all results are exact."""

    name: str
    definition: str
    source: str
    note: str = ""
    since: str = "1.0"


_SOURCE: Final = "NumPy's and PyTorch's rule for NaN, NumPy's for equal elements, which PyTorch leaves open"

ARG_REDUCE_OPS: Final[Mapping[str, ArgReduceOp]] = {
    row.name: row
    for row in (
        ArgReduceOp(
            "max", "the smallest i with x_i >= x_j for all j; of a row with NaN the smallest i with x_i NaN", _SOURCE
        ),
        ArgReduceOp(
            "min", "the smallest i with x_i <= x_j for all j; of a row with NaN the smallest i with x_i NaN", _SOURCE
        ),
    )
}
"""The ops by name."""

ARG_REDUCE_DTYPES: Final = ("bool", *REALS)
"""The element types of x."""

_PLACES: Final = ("int64", "int32")
_MOST_INT32: Final = 2**31


class ArgReduce(Reduction):
    """out = the place of the largest or smallest element of x along an axis.

    op   : "max" or "min"
    x    : one of ARG_REDUCE_DTYPES, any strides; read
    out  : int64, or int32 for rows of at most 2^31 elements; the shape of x with an extent of 1 at the axis, or without it;
           written
    axis : negative ones count from the end; None takes all of x as one row, in row-major order

    Attributes are (axis,), not negative, or () for None. Raises TypeError or ValueError for anything else, and ValueError
    for rows of nothing.
    """

    __slots__ = ()

    family: ClassVar[str] = "arg_reduce"

    def __init__(self, op: str, *, x: TensorSpec, out: TensorSpec, axis: int | None) -> None:
        name = _name(op)
        check_output(name, out)
        check_spec(name, "x", x)
        check_dtype(name, "x", x, ARG_REDUCE_DTYPES)
        check_dtype(name, "out", out, _PLACES)
        gone = _axes(name, axis, x.ndim)
        check_shapes(name, x, out, gone)
        terms = math.prod(x.shape[axis] for axis in gone)
        if not terms and out.size:
            row = f"x {x.shape} has no elements" + ("" if axis is None else f" along axis {axis}")
            message = f"{name}: {row}; a place needs at least one, leave such rows out"
            raise ValueError(message)
        if terms > _MOST_INT32 and out.dtype == "int32":
            message = f"{name}: out has dtype int32, which holds no place beyond 2^31 - 1 of {terms}; needs int64"
            raise ValueError(message)
        self._freeze(op, (x, out), () if axis is None else gone)

    @classmethod
    def infer(  # noqa: PLR0913 - as in NumPy
        cls, op: str, x: Any, axis: int | None = None, *, keepdims: bool = False, dtype: Any = None, out: Any = None
    ) -> Self:
        """Return the descriptor.

        x        : a TensorSpec, or an array that TensorSpec.of reads
        axis     : as in the constructor
        keepdims : True leaves an extent of 1 where an axis was
        dtype    : of out, int32 or int64, the usual one
        out      : a TensorSpec or an array, in place of keepdims and dtype; None: a dense one
        """
        name = _name(op)
        x = described(name, "x", x)
        gone, kept = _axes(name, axis, x.ndim), flag(name, "keepdims", keepdims)
        places = None if dtype is None else dtype_name(name, dtype)
        out = reduced_output(name, x, gone, out, places or _PLACES[0], keepdims=kept)
        agreed(name, "dtype", places, out.dtype)
        return cls(op, x=x, out=out, axis=axis)

    @property
    def title(self) -> str:
        """The operation's name in messages, which are also names of two reductions."""
        return _name(self.op)

    @property
    def axis(self) -> int | None:
        """The dimension of x that goes, None if x is one row."""
        return int(self.attributes[0]) if self.attributes else None

    @property
    def axes(self) -> tuple[int, ...]:
        """The dimensions of x that go: one, or all."""
        return tuple(range(self.x.ndim)) if self.axis is None else (self.axis,)

    @property
    def reduced(self) -> Geometry:
        """The merged dimensions that go, with the strides of x, in their own order: an element's number is its place."""
        return self._row(self.axes)


def _name(op: Any) -> str:
    """Return the name of an op in messages. Raises ValueError for one that the family does not have."""
    chosen_row("arg_reduce", op, ARG_REDUCE_OPS)
    return f"arg_reduce/{op}"


def _axes(name: str, axis: Any, rank: int) -> tuple[int, ...]:
    """Return the dimensions that an axis stands for. Raises TypeError or ValueError for one that x does not have."""
    if axis is None:
        return tuple(range(rank))
    whole = integer(f"{name}: axis", axis)
    if not -rank <= whole < rank:
        needed = f"an integer from {-rank} to {rank - 1}, or None" if rank else "None"
        message = (
            f"{name}: axis {whole} is no axis of x, which has rank {rank}; needs {needed} to take all of x as one row"
        )
        raise ValueError(message)
    return (whole % rank,)
