"""Family RmsLayerNorm: each row divided by its root mean square, then scaled column by column (Zhang and Sennrich, 2019).

definition   : square = (x_1^2 + x_2^2 + ...) / n, y = x scale / sqrt(square + epsilon); a row has the elements along the dimensions from
               `axis` to the last, n of them. ONNX's RMSNormalization, PyTorch's rms_norm
shapes       : x and y have one shape, of rank 0 to 16; scale has a row's shape. Any strides; a tensor of rank 0 is a row of one
dtypes       : float16, bfloat16, float32, float64, the same of x, scale and y
accumulation : in the compute type: float32 for 16-bit types, whose y is rounded once, scale included, else the type itself. Sums are
               made in trees, as of chains of 64 terms that are joined in pairs
NaN          : a NaN in a row makes all of its y NaN; one in scale its column
infinities   : an infinity makes its own y NaN and the finite elements of its row 0. Where a square or a sum of finite numbers overflows
               the compute type, the row is open
signed zero  : the sign of a zero is open
empty        : without elements of x nothing is launched
determinism  : a result depends on the values and the extent of its own row and on scale, never on threads, on other rows or on their
               number; equal calls on one device give equal bits
in place     : y may be x; no other two share a byte
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep import Role, Roles, Scalar, Stage, TensorSpec
from ep_primitives.descriptors.axis import axis_within
from ep_primitives.descriptors.validation import (
    attribute_value,
    check_dtype,
    check_spec,
    chosen_output,
    described,
)
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary
from ep_primitives.families.layer_norm.descriptor import EPSILON
from ep_primitives.families.reduce.descriptor import Reduce
from ep_primitives.norms.norm import Norm, check_ends

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["RmsLayerNorm"]


class RmsLayerNorm(Norm):
    """y = x scale / sqrt(mean x^2 + epsilon), over each row: the elements along the dimensions of x from `axis` to the last.

    x       : any shape, a floating element type; read
    scale   : the shape of a row, x.shape[axis:], and the dtype of x; read; None is 1
    y       : the shape and dtype of x; written; may be the same memory as x
    axis    : the first dimension of a row, a negative one counts from the end
    epsilon : a number above 0, which the compute type holds; 1e-5 is ONNX's

    Attributes are (axis, epsilon), the axis not negative. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "rms_layer_norm"
    roles: ClassVar[Roles] = Roles(
        Role.input("x", shares=("y",)), Role.input("scale", is_optional=True), Role.output("y")
    )
    words: ClassVar[tuple[str, ...]] = ("axis", "epsilon")

    def __init__(
        self,
        *,
        x: TensorSpec,
        y: TensorSpec,
        scale: TensorSpec | None = None,
        axis: int = -1,
        epsilon: float = 1e-5,
    ) -> None:
        op = self.family
        check_ends(op, x, y)
        first = axis_within(op, axis, x.shape, "x")
        if y.shape != x.shape:
            message = f"{op}: y has shape {y.shape}, needs x's shape {x.shape}; describe y so"
            raise ValueError(message)
        if scale is not None:
            check_spec(op, "scale", scale)
            check_dtype(op, "scale", scale, (x.dtype,))
            if scale.shape != x.shape[first:]:
                message = f"{op}: scale has shape {scale.shape}, needs {x.shape[first:]} for this x and axis; repeat a tensor by strides of 0"
                raise ValueError(message)
        self._freeze("-", (x, scale, y), (first, attribute_value(op, EPSILON, epsilon, x.dtype)))

    @classmethod
    def infer(cls, x: Any, scale: Any = None, *, axis: int = -1, epsilon: float = 1e-5, y: Any = None) -> Self:
        """Return the descriptor.

        x, scale      : TensorSpecs, or arrays that TensorSpec.of reads; no scale: None
        axis, epsilon : as in the constructor
        y             : a TensorSpec or an array; None: a dense one
        """
        x = described(cls.family, "x", x)
        y = chosen_output(cls.family, y, x.dtype, x.shape, "y")
        scale = None if scale is None else described(cls.family, "scale", scale)
        return cls(x=x, y=y, scale=scale, axis=axis, epsilon=epsilon)

    @property
    def axis(self) -> int:
        """The first dimension of a row, counted from the front."""
        return int(self.attributes[0])

    @property
    def terms(self) -> int:
        """The number of elements of a row."""
        return math.prod(self.x.shape[self.axis :])

    def lower(self) -> tuple[Stage, ...]:
        """Return a sum of squares, the factor of each row, and the products."""
        return tuple(_stages(self))

    @property
    def flops(self) -> int:
        """Four operations an element of x: a square, a sum and two products."""
        return 4 * self.x.size


def _stages(norm: RmsLayerNorm) -> Iterator[Stage]:
    """Yield the stages; of 16-bit types all is float32 until the end."""
    x, y, wide, scale = norm.x, norm.out, norm.compute, norm.present.get("scale")
    is_wide = x.dtype == wide
    rows = range(norm.axis, x.ndim)
    factor = TensorSpec(wide, tuple([1 if axis in rows else extent for axis, extent in enumerate(x.shape)]))
    source, values, target, place = x, "x", y, "y"
    if not is_wide:
        source = target = TensorSpec(wide, x.shape)
        values = place = "wide x"
        yield Stage(Cast(x=x, out=source), x="x", out=values)
    yield Stage(Reduce("sum_of_squares", x=source, out=factor, axis=rows), x=values, out="factor")
    for op, number in (("div", norm.terms), ("add", norm.epsilon)):
        yield Stage(BroadcastBinary(op, a=factor, b=Scalar(wide), out=factor), a="factor", b=number, out="factor")
    yield Stage(ElementwiseUnary("rsqrt", x=factor, out=factor), x="factor", out="factor")
    yield Stage(BroadcastBinary("mul", a=source, b=factor, out=target), a=values, b="factor", out=place)
    if isinstance(scale, TensorSpec):
        term = "scale"
        if not is_wide:
            narrow, scale, term = scale, TensorSpec(wide, scale.shape), "wide scale"
            yield Stage(Cast(x=narrow, out=scale), x="scale", out=term)
        yield Stage(BroadcastBinary("mul", a=target, b=scale, out=target), a=place, b=term, out=place)
    if not is_wide:
        yield Stage(Cast(x=target, out=y), x=place, out="y")
