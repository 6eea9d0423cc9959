"""Family Where: out = a where the condition is true, else b; one element at a time.

shapes       : condition, a and b broadcast to out; any strides; a, b or both may be Scalars, numbers given at launch
dtypes       : condition bool (any byte but 0 is true), int32 or int64 (any value but 0 is true); a, b and out have one dtype, any
values       : bits are moved unchanged, so a NaN keeps its payload and a bool its byte; a number is held in the compute
               type and rounded once to the element type
accumulation : none; nothing is computed
NaN          : moved as it is; the element that is not chosen never shows. A number that is NaN may have any payload
infinities   : moved as they are
signed zero  : kept
empty        : an output without elements is legal and nothing is launched
determinism  : always the same bits
in place     : out may be a or b, and the condition if both are bool: the same memory, offset, shape and strides
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self

from ep.dtypes import DTYPES
from ep.layout.cells import dtypes_name

from ep import Descriptor, Role, Roles, Scalar, TensorSpec
from ep_primitives.descriptors.validation import (
    broadcast_shape,
    check_dtype,
    check_input,
    check_output,
    chosen_output,
    described,
    described_operand,
)
from ep_primitives.elementwise.op import EVERY

__all__ = ["CONDITIONS", "Where"]

CONDITIONS: Final = ("bool", "int32", "int64")
"""The element types of a condition."""

_ROLES: Final = tuple(
    Roles(
        Role.input("condition", shares=shares),
        Role.input("a", shares=("out",)),
        Role.input("b", shares=("out",)),
        Role.output("out"),
    )
    for shares in ((), ("out",))
)


class Where(Descriptor):
    """out = condition ? a : b, bits unchanged; all three are broadcast to the shape of out.

    condition : broadcasts to out.shape, one of CONDITIONS; read
    a, b      : broadcast to out.shape, any dtype, the same as out's; read; each may be a Scalar, a number at launch
    out       : written; may be the same memory as a or b, and as the condition if both are bool

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "where"

    def __init__(
        self, *, condition: TensorSpec, a: TensorSpec | Scalar, b: TensorSpec | Scalar, out: TensorSpec
    ) -> None:
        check_output("where", out)
        check_input("where", "condition", condition, out)
        check_dtype("where", "condition", condition, CONDITIONS)
        check_dtype("where", "out", out, EVERY)
        for name, spec in (("a", a), ("b", b)):
            if type(spec) is not Scalar:
                check_input("where", name, spec, out)
            check_dtype("where", name, spec, (out.dtype,))
        self._freeze("-", (condition, a, b, out))

    @classmethod
    def infer(cls, condition: Any, a: Any, b: Any, *, out: Any = None) -> Self:
        """Return the descriptor.

        condition, out : TensorSpec or array; without out it is dense, of the shape that all broadcast to
        a, b           : TensorSpec, array or Scalar
        """
        condition = described("where", "condition", condition)
        a, b = described_operand("where", "a", a), described_operand("where", "b", b)
        shape = broadcast_shape("where", {"condition": condition.shape, "a": a.shape, "b": b.shape})
        return cls(condition=condition, a=a, b=b, out=chosen_output("where", out, a.dtype, shape))

    @property
    def roles(self) -> Roles:  # type: ignore[override]  # the condition shares only bytes that are the output's
        """The roles of the operands."""
        return _ROLES[self.specs[0].dtype == self.specs[-1].dtype == "bool"]

    @property
    def compute(self) -> str:
        """The type that a number is held in: the compute type of the output."""
        return DTYPES[self.out.dtype].compute

    @property
    def cell(self) -> str:
        """The text of this descriptor's cell: of the element types the condition's and the output's."""
        dtype = self.out.dtype
        return f"where/-/{dtypes_name((self.specs[0].dtype, dtype), dtype)}/{self.layout}"

    @property
    def flops(self) -> int:
        """Nothing is computed."""
        return 0
