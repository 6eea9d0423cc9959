"""Family Dequantize: integers as steps of a scale, counted from a zero point.

definition   : out = (x - zero_point) scale; ONNX's DequantizeLinear
shapes       : x and out have one shape, of rank 0 to 16; scale and zero_point have one shape, which broadcasts to x: () for a tensor,
               (C, 1, 1) for an axis of (N, C, H, W). With a block, of rank 1 to 15, each element stands for `block` neighbours along
               `axis`, the last for the rest, and their extent there is x's over block, rounded up. Any strides
dtypes       : x and zero_point int8, uint8, int16, uint16 or int32, the same; scale and out float16, bfloat16, float32 or float64, the same
accumulation : in the compute type: float32 for 16-bit types, whose out is rounded once more, else the type itself. For integers
               of 8 and 16 bits the difference is exact; an int32 is rounded to the compute type before it
NaN          : a NaN in scale makes the elements that it scales NaN
infinities   : IEEE 754 holds: 0 times an infinite scale is NaN
signed zero  : a difference of 0 is +0, so that out has the sign of scale
empty        : an output without elements is legal and nothing is launched
determinism  : an element's result depends on its own x, scale and zero point alone
in place     : no two share a byte
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from ep.dtypes import DTYPES

from ep import Stage, TensorSpec
from ep_primitives.descriptors.validation import check_dtype, check_output, check_spec, chosen_output, described
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.broadcast_binary.descriptor import BroadcastBinary
from ep_primitives.families.cast.descriptor import Cast
from ep_primitives.families.quantization.descriptor import QUANTIZED, Quantization

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DEQUANTIZED", "Dequantize"]

DEQUANTIZED: Final = (*QUANTIZED, "int32")
"""The element types of x."""


class Dequantize(Quantization):
    """out = (x - zero_point) scale.

    x          : any shape, one of DEQUANTIZED; read
    scale      : broadcasts to x, or one for each block; a floating element type; read
    zero_point : the shape of scale, the dtype of x; read; None is 0
    out        : the shape of x, the dtype of scale; written
    axis       : the dimension of blocks, a negative one counts from the end; None is 0
    block      : how many neighbours along the axis one scale stands for; None: scale broadcasts

    Attributes are (axis, block), zeros without blocks. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "dequantize"

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
        check_dtype(op, "x", x, DEQUANTIZED)
        check_dtype(op, "scale", scale, FLOATS)
        check_dtype(op, "out", out, (scale.dtype,), is_output=True)
        self._freeze_scaled((x, scale, zero_point, out), axis, block, x.dtype)

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls,
        x: Any,
        scale: Any,
        zero_point: Any = None,
        *,
        axis: int | None = None,
        block: int | None = None,
        out: Any = None,
    ) -> Self:
        """Return the descriptor.

        x, scale, zero_point : TensorSpecs, or arrays that TensorSpec.of reads; no zero point: None
        axis, block          : as in the constructor
        out                  : a TensorSpec or an array; None: a dense one
        """
        op = cls.family
        x, scale = described(op, "x", x), described(op, "scale", scale)
        zero_point = None if zero_point is None else described(op, "zero_point", zero_point)
        out = chosen_output(op, out, scale.dtype, x.shape)
        return cls(x=x, scale=scale, zero_point=zero_point, out=out, axis=axis, block=block)

    @property
    def compute(self) -> str:
        """The compute type: out's."""
        return DTYPES[self.out.dtype].compute

    def lower(self) -> tuple[Stage, ...]:
        """Return a cast, a difference and a product, in the compute type."""
        return tuple(_stages(self))


def _stages(dequantize: Dequantize) -> Iterator[Stage]:
    """Yield the stages. The values of a piece are a temporary, or out, if the types are the same."""
    wide = dequantize.compute
    is_wide = dequantize.scale.dtype == wide
    scale, zero, named = yield from dequantize.widened()
    for x, step, shift, out in dequantize.pieces(scale, zero):
        values, place = (out, "out") if is_wide else (TensorSpec(wide, x.shape), "values")
        yield Stage(Cast(x=x, out=values), x="x", out=place)
        if shift is not None:
            less = BroadcastBinary("sub", a=values, b=shift, out=values)
            yield Stage(less, a=place, b="wide zero point", out=place)
        yield Stage(BroadcastBinary("mul", a=values, b=step, out=values), a=place, b=named, out=place)
        if not is_wide:
            yield Stage(Cast(x=values, out=out), x=place, out="out")
