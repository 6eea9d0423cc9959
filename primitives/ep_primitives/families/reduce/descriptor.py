"""Family Reduce: each element of out is made of a row of x, its elements along some axes.

shapes       : axes are any of the dimensions of x, all or none (rank 0 has none); out has the shape of x with extents of 1
               there, or without them. x has any strides, zero and negative ones too; out any that do not overlap
dtypes       : a row each, see `rows`; sum and prod also into a wider type, for integers by default: signed
               ones into int64, unsigned ones into uint64, as NumPy; any and all into bool
accumulation : float32 for float16 and bfloat16, rounded once at the end; else the type of out, in which integers wrap
NaN          : one anywhere in a row gives NaN in sum, prod, mean, max, min, sum_of_squares, norms and log_sum_exp, before any
               infinity; in any and all it is true. A complex number with a NaN and an infinite part is open
infinities   : as IEEE 754 adds and multiplies them; max, min and norms find them; log_sum_exp of a row with +inf is +inf
signed zero  : max(-0, +0) = +0, min(-0, +0) = -0, a norm is +0, a zero product has the product's sign; the sign of a zero sum is open
empty        : a row of nothing gives the row's identity: sum, sum_of_squares and norms 0, prod 1, any false, all true, mean NaN,
               log_sum_exp -inf, max the lowest and min the highest value (-inf and +inf of floats, false and true of bools);
               an output without elements is legal and nothing is launched
determinism  : a result depends on the values, extents and strides of its own row alone: equal bits whatever the number of
               threads, of rows, and the place in memory. The tree of a sum is the provider's choice
in place     : x and out share no byte
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep.dtypes import DTYPES

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
from ep_primitives.families.reduce.rows import REDUCE_OPS
from ep_primitives.reductions.dimensions import Reduction, check_shapes, reduced_axes, reduced_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ep import TensorSpec

__all__ = ["Reduce"]


class Reduce(Reduction):
    """out = op over the elements of x along some axes.

    op   : a name in REDUCE_OPS
    x    : one of the row's element types, any strides; read
    out  : the shape of x with extents of 1 at the axes, or without them; one of the row's types for x; written
    axis : an integer or several, negative ones count from the end; all of range(rank) reduces everything, () each element
           alone

    Attributes are the axes, sorted and not negative. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "reduce"

    def __init__(self, op: str, *, x: TensorSpec, out: TensorSpec, axis: Sequence[int] | int) -> None:
        row = chosen_row(self.family, op, REDUCE_OPS)
        check_output(op, out)
        check_spec(op, "x", x)
        check_dtype(op, "x", x, tuple(row.outs))
        check_dtype(op, "out", out, row.outs[x.dtype])
        gone = reduced_axes(op, axis, x.ndim)
        check_shapes(op, x, out, gone)
        self._freeze(op, (x, out), gone)

    @classmethod
    def infer(  # noqa: PLR0913 - as in NumPy
        cls,
        op: str,
        x: Any,
        axis: Sequence[int] | int | None = None,
        *,
        keepdims: bool = False,
        dtype: Any = None,
        out: Any = None,
    ) -> Self:
        """Return the descriptor.

        x        : a TensorSpec, or an array that TensorSpec.of reads
        axis     : as in the constructor; None is all of them
        keepdims : True leaves extents of 1 where an axis was
        dtype    : of out; None is the row's usual one: x's, but 64 bits for sums and products of integers, which wrap in
                   their own type only where it is given here
        out      : a TensorSpec or an array, in place of keepdims and dtype; None: a dense one
        """
        row = chosen_row(cls.family, op, REDUCE_OPS)
        x = described(op, "x", x)
        check_dtype(op, "x", x, tuple(row.outs))
        gone = reduced_axes(op, range(x.ndim) if axis is None else axis, x.ndim)
        name = None if dtype is None else dtype_name(op, dtype)
        usual = name or row.usual_out(x.dtype)
        out = reduced_output(op, x, gone, out, usual, keepdims=flag(op, "keepdims", keepdims))
        agreed(op, "dtype", name, out.dtype)
        return cls(op, x=x, out=out, axis=gone)

    @property
    def axis(self) -> tuple[int, ...]:
        """The dimensions of x that go, as `axes`."""
        return self.axes

    @property
    def axes(self) -> tuple[int, ...]:
        """The dimensions of x that go: sorted, not negative, each once."""
        return self.attributes  # type: ignore[return-value]  # integers, as the constructor put them there

    @property
    def compute(self) -> str:
        """The type that values are computed in: the compute type of the output."""
        return DTYPES[self.out.dtype].compute
