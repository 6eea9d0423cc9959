"""Family ElementwiseUnary: out = op(x), one element at a time; the rows are in rows.py.

shapes       : x broadcasts to out; any strides
dtypes       : the row's; out has x's, bool for a test, the real or complex counterpart where the row says so
accumulation : none; float16 and bfloat16 are computed in float32 and rounded once
NaN          : as the row's special values say; a NaN result may have any sign and payload
infinities   : as the row's special values say; of complex numbers in exact rows and tests only
signed zero  : as the row's special values say; elsewhere the sign of a zero is free
empty        : an output without elements is legal and nothing is launched
determinism  : an element's result depends on its value alone, not on its place, its neighbours or the number of threads
               (a NaN stays a NaN, with any sign and payload); equal launches give equal bits
in place     : out may be x, the same memory, offset, shape, strides and itemsize
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep import Descriptor, Role, Roles, TensorSpec
from ep_primitives.descriptors.validation import (
    attribute_values,
    check_dtype,
    check_input,
    check_output,
    chosen_output,
    chosen_row,
    described,
)
from ep_primitives.elementwise.family import RowFamily
from ep_primitives.families.elementwise_unary.rows import UNARY_OPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ep_primitives.elementwise.op import Op

__all__ = ["ElementwiseUnary", "ElementwiseUnaryFamily"]


class ElementwiseUnary(Descriptor):
    """out = op(x) for each element; x is broadcast to the shape of out.

    op  : name of a row of `rows`
    x   : broadcasts to out.shape, a dtype of the row; read
    out : the dtype of x, bool for a test, the real or complex counterpart as the row says; written; may be the same memory
          as x if the itemsizes are equal

    Attributes of the row are keywords. Raises TypeError or ValueError for anything the row does not have.
    """

    __slots__ = ()

    family: ClassVar[str] = "elementwise_unary"
    roles: ClassVar[Roles] = Roles(Role.input("x", shares=("out",)), Role.output("out"))

    def __init__(self, op: str, *, x: TensorSpec, out: TensorSpec, **attributes: float) -> None:
        row = chosen_row(self.family, op, UNARY_OPS)
        check_output(op, out)
        check_input(op, "x", x, out)
        check_dtype(op, "x", x, row.dtypes)
        check_dtype(op, "out", out, (row.out_dtype(x.dtype),))
        self._freeze(op, (x, out), attribute_values(row, attributes, x.dtype))

    @classmethod
    def infer(cls, op: str, x: Any, *, out: Any = None, **attributes: float) -> Self:
        """Return the descriptor; x and out are TensorSpecs or arrays, without out it is dense and of the shape of x."""
        row = chosen_row(cls.family, op, UNARY_OPS)
        x = described(op, "x", x)
        out = chosen_output(op, out, row.out_dtype(x.dtype), x.shape)
        return cls(op, x=x, out=out, **attributes)


class ElementwiseUnaryFamily(RowFamily):
    """The cells of ElementwiseUnary: each row with each of its dtypes in each layout."""

    name: ClassVar[str] = "elementwise_unary"
    descriptor: ClassVar[type[Descriptor]] = ElementwiseUnary
    rows: ClassVar[Mapping[str, Op]] = UNARY_OPS
    tensors: ClassVar[int] = 1
    layouts: ClassVar[tuple[str, ...]] = ("dense", "strided", "broadcast", "inplace", "offset", "empty", "rank0")
    convicting = frozenset({"negative/float32/inplace/x"})
