"""Family Quantize: numbers rounded to steps of a scale and counted from a zero point, as integers that saturate.

definition   : out = saturate(round(x / scale) + zero_point), round to the nearest integer, ties to even; ONNX's QuantizeLinear
shapes       : x and out have one shape, of rank 0 to 16; scale and zero_point have one shape, which broadcasts to x: () for a tensor,
               (C, 1, 1) for an axis of (N, C, H, W). With a block, of rank 1 to 15, each element stands for `block` neighbours along
               `axis`, the last for the rest, and their extent there is x's over block, rounded up. Any strides
dtypes       : x and scale float16, bfloat16, float32 or float64, the same; zero_point and out int8, uint8, int16 or uint16, the same
accumulation : x / scale is rounded once, to the compute type: float32 for 16-bit types, else the type itself; all else is exact
NaN          : where the quotient is NaN, such as 0 / 0, out is 0
infinities   : saturate
signed zero  : integers have none
empty        : an output without elements is legal and nothing is launched
determinism  : an element's result depends on its own x, scale and zero point alone
in place     : no two share a byte
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep import Stage, TensorSpec
from ep_primitives.descriptors.validation import (
    agreed,
    check_dtype,
    check_output,
    check_spec,
    chosen_output,
    described,
    dtype_name,
)
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.elementwise_unary.descriptor import ElementwiseUnary
from ep_primitives.families.quantization.descriptor import QUANTIZED, Quantization

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Quantize"]


class Quantize(Quantization):
    """out = saturate(round(x / scale) + zero_point), ties to even.

    x          : any shape, a floating element type; read
    scale      : broadcasts to x, or one for each block; the dtype of x; read
    zero_point : the shape of scale, the dtype of out; read; None is 0
    out        : the shape of x, one of QUANTIZED; written
    axis       : the dimension of blocks, a negative one counts from the end; None is 0
    block      : how many neighbours along the axis one scale stands for; None: scale broadcasts

    Attributes are (axis, block), zeros without blocks. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "quantize"

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        *,
        x: TensorSpec,
        scale: TensorSpec,
        out: TensorSpec,
        zero_point: TensorSpec | None = None,
        axis: int | None = None,
        block: int | None = None,
    ) -> None:
        op = self.family
        check_spec(op, "x", x)
        check_spec(op, "scale", scale)
        check_output(op, out)
        check_dtype(op, "x", x, FLOATS)
        check_dtype(op, "scale", scale, (x.dtype,))
        check_dtype(op, "out", out, QUANTIZED, is_output=True)
        self._freeze_scaled((x, scale, zero_point, out), axis, block, out.dtype)

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls,
        x: Any,
        scale: Any,
        zero_point: Any = None,
        *,
        dtype: Any = None,
        axis: int | None = None,
        block: int | None = None,
        out: Any = None,
    ) -> Self:
        """Return the descriptor.

        x, scale, zero_point : TensorSpecs, or arrays that TensorSpec.of reads; no zero point: None
        dtype                : of out; None: the zero point's, uint8 without one
        axis, block          : as in the constructor
        out                  : a TensorSpec or an array; None: a dense one
        """
        op = cls.family
        x, scale = described(op, "x", x), described(op, "scale", scale)
        zero_point = None if zero_point is None else described(op, "zero_point", zero_point)
        usual = "uint8" if zero_point is None else zero_point.dtype
        out = chosen_output(op, out, usual if dtype is None else dtype_name(op, dtype), x.shape)
        agreed(op, "dtype", None if dtype is None else dtype_name(op, dtype), out.dtype)
        return cls(x=x, scale=scale, zero_point=zero_point, out=out, axis=axis, block=block)

    def lower(self) -> tuple[Stage, ...]:
        """Return a quotient, its rounding and a sum in the compute type, and a cast, which saturates."""
        return tuple(_stages(self))


def _stages(quantize: Quantize) -> Iterator[Stage]:
    """Yield the stages. The values of a piece are one temporary; a zero point that is too large to be added exactly saturates."""
    wide = quantize.compute
    is_wide = quantize.scale.dtype == wide
    scale, zero, named = yield from quantize.widened()
    for x, step, shift, out in quantize.pieces(scale, zero):
        values = TensorSpec(wide, x.shape)
        source, place = x, "x"
        if not is_wide:
            yield Stage(Cast(x=x, out=values), x="x", out="values")
            source, place = values, "values"
        yield Stage(BroadcastBinary("div", a=source, b=step, out=values), a=place, b=named, out="values")
        yield Stage(ElementwiseUnary("rint", x=values, out=values), x="values", out="values")
        if shift is not None:
            added = BroadcastBinary("add", a=values, b=shift, out=values)
            yield Stage(added, a="values", b="wide zero point", out="values")
        yield Stage(Cast(x=values, out=out), x="values", out="out")
