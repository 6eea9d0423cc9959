"""Family Scan: each element becomes the sum, product, maximum or minimum of all elements of its row so far.

definition   : see `rows`; with `exclusive` out_i is made of x_1 to x_(i-1), and out_1 is the identity: 0, 1, the lowest, the
               highest value (-inf and +inf of floats); with `reverse` a row begins at its last element
shapes       : x and out have one shape, of rank 0 to 16, and any strides; a row is the elements along `axis`; a tensor of
               rank 0 is a row of one
dtypes       : the row's; out has x's. To sum in a wider type, cast first
accumulation : float32 for float16 and bfloat16, each element of out rounded once; else the type itself, in which integers wrap.
               A sum is as good as one made in trees, as of chains of 64 terms that are joined in pairs
NaN          : a NaN makes itself and all that follow it in its row NaN
infinities   : as IEEE 754 adds and multiplies them; where a partial result overflows, it and all that follow are open
signed zero  : max(-0, +0) = +0, min(-0, +0) = -0, a zero product has the product's sign; the sign of a zero sum is open
empty        : without elements nothing is launched
determinism  : a result depends on the values and the extent of its own row, never on threads, on other rows or on their
               number; equal calls on one device give equal bits. How the elements are joined is the provider's choice
in place     : out may be x
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep import Role, Roles
from ep_primitives.descriptors.axis_descriptor import AxisDescriptor
from ep_primitives.descriptors.validation import chosen_output, chosen_row, described, flag
from ep_primitives.families.scan.rows import SCAN_OPS

if TYPE_CHECKING:
    from ep import TensorSpec

__all__ = ["Scan"]


class Scan(AxisDescriptor):
    """out_i = op(x_1, ..., x_i), over each row along an axis.

    op        : a name in SCAN_OPS
    x         : any shape, one of the row's dtypes; read
    out       : the shape and dtype of x; written; may be the same memory as x
    axis      : which dimension the rows lie along; a negative one counts from the end
    exclusive : True: without the element itself, beginning with the identity
    reverse   : True: from the last element to the first

    Attributes are (axis, exclusive, reverse), not negative, 0 or 1. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "scan"
    roles: ClassVar[Roles] = Roles(Role.input("x", shares=("out",)), Role.output("out"))
    operations: ClassVar[int] = 1

    def __init__(  # noqa: PLR0913 - operands and attributes
        self, op: str, *, x: TensorSpec, out: TensorSpec, axis: int = -1, exclusive: bool = False, reverse: bool = False
    ) -> None:
        name = _name(op)
        flags = [int(flag(name, word, value)) for word, value in (("exclusive", exclusive), ("reverse", reverse))]
        self._freeze_rows(axis, op=op, dtypes=SCAN_OPS[op].dtypes, more=tuple(flags), x=x, out=out)

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls, op: str, x: Any, axis: int = -1, *, exclusive: bool = False, reverse: bool = False, out: Any = None
    ) -> Self:
        """Return the descriptor; x and out are TensorSpecs or arrays, without out it is dense and of the shape of x."""
        name = _name(op)
        x = described(name, "x", x)
        out = chosen_output(name, out, x.dtype, x.shape)
        return cls(op, x=x, out=out, axis=axis, exclusive=exclusive, reverse=reverse)

    @property
    def title(self) -> str:
        """The operation's name in messages, because its op has the name of a reduction."""
        return _name(self.op)

    @property
    def x(self) -> TensorSpec:
        """The tensor whose rows are scanned."""
        return self.specs[0]  # type: ignore[return-value]  # never a Scalar

    @property
    def exclusive(self) -> bool:
        """True if an element is not part of its own result."""
        return bool(self.attributes[1])

    @property
    def reverse(self) -> bool:
        """True if rows begin at their last element."""
        return bool(self.attributes[2])

    def __repr__(self) -> str:
        flags = "".join(f", {name}=True" for name in ("exclusive", "reverse") if getattr(self, name))
        return f"{type(self).__name__}({self.op!r}, x={self.x!r}, out={self.out!r}, axis={self.axis}{flags})"


def _name(op: Any) -> str:
    """Return the name of an op in messages. Raises ValueError for one that the family does not have."""
    chosen_row("scan", op, SCAN_OPS)
    return f"scan/{op}"
