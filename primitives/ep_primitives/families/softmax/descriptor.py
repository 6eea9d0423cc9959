"""Families Softmax and LogSoftmax: each row along an axis made into probabilities, or into their logarithms.

definition   : e = exp(x - max x), over each row; softmax: out = e / sum e; log_softmax: out = (x - max x) - log(sum e)
shapes       : x and out have one shape, of rank 0 to 16, and any strides; a row is the elements along `axis`; a tensor of
               rank 0 is a row of one
dtypes       : float16, bfloat16, float32, float64; out has x's
accumulation : float32 for float16 and bfloat16, whose result is rounded once; else the type itself. Sums are
               made in trees, as of chains of 64 terms that are joined in pairs, never one term after the other
NaN          : a NaN in a row makes the whole row NaN
infinities   : +inf in a row, or a row of -inf alone, makes the whole row NaN; -inf among others gives 0, of log_softmax
               -inf. Where x - max overflows, it is -inf. No other element overflows, however large
signed zero  : zeros of softmax are +0; a row of one gives 1, and of log_softmax +0; -0 and +0 in x are equal
empty        : without elements nothing is launched; a row of extent 0 has none
determinism  : a result depends on the values and the extent of its own row, never on threads, on other rows or on their
               number; equal calls on one device give equal bits
in place     : out may be x
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep import Role, Roles
from ep_primitives.descriptors.axis_descriptor import AxisDescriptor
from ep_primitives.descriptors.validation import chosen_output, described

if TYPE_CHECKING:
    from ep import TensorSpec

__all__ = ["LogSoftmax", "Softmax"]


class Forward(AxisDescriptor):
    """Base of both softmaxes: operands x and out, one axis."""

    __slots__ = ()

    roles: ClassVar[Roles] = Roles(Role.input("x", shares=("out",)), Role.output("out"))
    operations: ClassVar[int] = 5

    def __init__(self, *, x: TensorSpec, out: TensorSpec, axis: int = -1) -> None:
        self._freeze_rows(axis, x=x, out=out)

    @classmethod
    def infer(cls, x: Any, axis: int = -1, *, out: Any = None) -> Self:
        """Return the descriptor; x and out are TensorSpecs or arrays, without out it is dense and of the shape of x."""
        x = described(cls.family, "x", x)
        return cls(x=x, out=chosen_output(cls.family, out, x.dtype, x.shape), axis=axis)


class Softmax(Forward):
    """out = exp(x - max x) / sum exp(x - max x), over each row along an axis.

    x    : any shape, a floating element type; read
    out  : the shape and dtype of x; written; may be the same memory as x
    axis : which dimension the rows lie along; a negative one counts from the end

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "softmax"


class LogSoftmax(Forward):
    """out = (x - max x) - log(sum exp(x - max x)), over each row along an axis.

    x    : any shape, a floating element type; read
    out  : the shape and dtype of x; written; may be the same memory as x
    axis : which dimension the rows lie along; a negative one counts from the end

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "log_softmax"
