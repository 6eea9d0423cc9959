"""Families SoftmaxBackward and LogSoftmaxBackward: the gradient of x from the output and its gradient.

definition   : over each row; softmax_backward: out = y (dy - sum y dy), y from softmax; log_softmax_backward:
               out = dy - exp(y) sum dy, y from log_softmax. Nothing is assumed of y, which need not sum to 1
shapes       : dy, y and out have one shape, of rank 0 to 16, and any strides; a row is the elements along `axis`; a tensor
               of rank 0 is a row of one
dtypes       : float16, bfloat16, float32, float64; dy, y and out have one
accumulation : float32 for float16 and bfloat16, whose result is rounded once; else the type itself. Sums are
               made in trees, as of chains of 64 terms that are joined in pairs, never one term after the other
NaN          : IEEE 754 holds term by term: a NaN in dy makes its whole row NaN; so does one in y of softmax_backward; in
               log_softmax_backward it makes its own element NaN
infinities   : IEEE 754 holds term by term, 0 times an infinity and inf - inf are NaN; exp(-inf) is 0. Where a product or
               a partial sum overflows, the row is unspecified
signed zero  : the sign of a zero result is open
empty        : without elements nothing is launched; a row of extent 0 has none
determinism  : a result depends on the values and the extent of its own row, never on threads, on other rows or on their
               number; equal calls on one device give equal bits
in place     : out may be dy or y
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep import Role, Roles
from ep_primitives.descriptors.axis_descriptor import AxisDescriptor
from ep_primitives.descriptors.validation import chosen_output, described

if TYPE_CHECKING:
    from ep import TensorSpec

__all__ = ["LogSoftmaxBackward", "SoftmaxBackward"]


class Backward(AxisDescriptor):
    """Base of both backward forms: operands dy, y and out, one axis."""

    __slots__ = ()

    roles: ClassVar[Roles] = Roles(
        Role.input("dy", shares=("out",)), Role.input("y", shares=("out",)), Role.output("out")
    )
    operations: ClassVar[int] = 4

    def __init__(self, *, dy: TensorSpec, y: TensorSpec, out: TensorSpec, axis: int = -1) -> None:
        self._freeze_rows(axis, dy=dy, y=y, out=out)

    @classmethod
    def infer(cls, dy: Any, y: Any, axis: int = -1, *, out: Any = None) -> Self:
        """Return the descriptor; dy, y and out are TensorSpecs or arrays, without out it is dense and of the shape of dy."""
        dy, y = described(cls.family, "dy", dy), described(cls.family, "y", y)
        return cls(dy=dy, y=y, out=chosen_output(cls.family, out, dy.dtype, dy.shape), axis=axis)


class SoftmaxBackward(Backward):
    """out = y (dy - sum y dy), over each row along an axis: the gradient of softmax at the x that gave y.

    dy   : any shape, a floating element type; the gradient of y; read
    y    : the shape and dtype of dy; the result of softmax; read
    out  : the shape and dtype of dy; written; may be the same memory as dy or y
    axis : which dimension the rows lie along; a negative one counts from the end

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "softmax_backward"


class LogSoftmaxBackward(Backward):
    """out = dy - exp(y) sum dy, over each row along an axis: the gradient of log_softmax at the x that gave y.

    dy   : any shape, a floating element type; the gradient of y; read
    y    : the shape and dtype of dy; the result of log_softmax; read
    out  : the shape and dtype of dy; written; may be the same memory as dy or y
    axis : which dimension the rows lie along; a negative one counts from the end

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "log_softmax_backward"
