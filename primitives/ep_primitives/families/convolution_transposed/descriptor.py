"""Family ConvolutionTransposed: each element of x, times weights, is added to elements of y, as ONNX's ConvTranspose and PyTorch's conv_transpose1d to 3d.

definition   : y[n, m, o] = bias[m] + the sum of x[n, c, i] w[c, m, k] over the channels c of m's group and all i and k with
               i stride + k dilation - before = o, a number for each spatial dimension: the gradient of Convolution with these strides,
               dilations and pads by its x. Nothing is flipped
shapes       : x (N, C, S...), w (C, M / groups, K...), bias (M,), y (N, M, O...) with 1 to 6 spatial dimensions, S at least 1, and O =
               (S - 1) stride + (K - 1) dilation + 1 - before - after + extra, at least 1 without extra, which is from 0 to below the stride or below
               the dilation, as the shape of y decides; any strides, also such that elements of x are shared
groups       : divide C and M; group g takes the g-th part of the channels to the g-th part of M
dtypes       : float16, bfloat16, float32, float64, the same of all
accumulation : float32 for float16 and bfloat16, whose result is rounded once; else the type itself. The order of the sum, with or
               without fused multiply-add, is open
NaN          : IEEE 754 holds term by term: a NaN in x makes all y NaN to which it is added, one in bias all y of its m. Whether a weight that
               is not finite meets zeros between or around the elements of x, which gives NaN, is open; so is the result where a partial sum
               overflows
infinities   : as NaN: inf - inf and 0 inf are NaN, elsewhere an infinity stays
signed zero  : the sign of a zero result is open
empty        : an element to which nothing is added, and a sum over no channels, is 0, so y = bias; an empty y does nothing
determinism  : equal calls on one device give equal bits, whatever the number of threads. Whether an image, a group or a place has the
               same bits when it is computed alone is the provider's choice
in place     : y shares no byte with x, w or bias
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep_primitives.descriptors.validation import check_dtype, chosen_output, described
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.convolution_transposed.stages import stages
from ep_primitives.sliding.weighted import Weighted
from ep_primitives.sliding.windows import counts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep import Stage, TensorSpec
    from ep_primitives.sliding.windows import Sliding

__all__ = ["ConvolutionTransposed"]


class ConvolutionTransposed(Weighted):
    """y = the sum of each element of x times weights, over the places of y that it contributes to, plus a bias.

    x         : (N, C, S...), a floating element type, any strides; read
    w         : (C, M / groups, K...), the dtype of x, any strides; read
    bias      : (M,), the dtype of x; read; None is 0
    y         : (N, M, O...), the dtype of x; written; shares no byte with the others
    strides   : from where one element of x gives to where the next one does; an integer, or one for each spatial dimension
    dilations : from where an element gives with one weight to where it does with the next; as strides
    pads      : elements cut off: an integer, one for each spatial dimension, or all before and then all after, at least 0
    groups    : a divisor of C and M

    Attributes are strides, dilations, pads before, pads after and groups. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "convolution_transposed"
    dtypes: ClassVar[Mapping[str, str]] = {dtype: dtype for dtype in FLOATS}
    form: ClassVar[str] = "(C, M / groups, K...)"

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        *,
        x: TensorSpec,
        w: TensorSpec,
        y: TensorSpec,
        bias: TensorSpec | None = None,
        strides: Sequence[int] | int = 1,
        dilations: Sequence[int] | int = 1,
        pads: Sequence[int] | int = 0,
        groups: int = 1,
    ) -> None:
        self._freeze_weighted(x=x, w=w, bias=bias, y=y, strides=strides, dilations=dilations, pads=pads, groups=groups)

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls,
        x: Any,
        w: Any,
        bias: Any = None,
        *,
        strides: Sequence[int] | int = 1,
        dilations: Sequence[int] | int = 1,
        pads: Sequence[int] | int = 0,
        extra: Sequence[int] | int = 0,
        groups: int = 1,
        y: Any = None,
    ) -> Self:
        """Return the descriptor.

        x, w, bias : TensorSpecs, or arrays that TensorSpec.of reads; no bias: None
        extra      : elements past the last one that x adds to, ONNX's and PyTorch's output_padding; an integer, or one
                     each
        y          : a TensorSpec or an array, in place of extra; None: a dense one
        """
        op = cls.family
        x, w = described(op, "x", x), described(op, "w", w)
        bias = None if bias is None else described(op, "bias", bias)
        check_dtype(op, "x", x, FLOATS)
        sliding = cls._sliding(x, w, strides=strides, dilations=dilations, pads=pads)
        more = counts_of(op, "extra", extra, x.ndim - 2)
        spatial = tuple(map(sum, zip(_extents(op, sliding, x), more, strict=True)))
        shape = (x.shape[0], w.shape[1] * cls._groups(groups, x, w), *spatial)
        y = chosen_output(op, y, x.dtype, shape, "y")
        if any(more) and y.shape != shape:
            message = (
                f"{op}: extra is {more} and makes {shape}, and y has {y.shape}; leave extra out, or describe another y"
            )
            raise ValueError(message)
        return cls(x=x, w=w, bias=bias, y=y, strides=strides, dilations=dilations, pads=pads, groups=groups)

    @classmethod
    def _sliding(cls, x: TensorSpec, w: TensorSpec, **places: Any) -> Sliding:
        sliding = super()._sliding(x, w, **places)
        if not all(x.shape[2:]):
            message = (
                f"{cls.family}: x has shape {x.shape}, needs spatial extents of at least 1; leave the operation out"
            )
            raise ValueError(message)
        return sliding

    @classmethod
    def _check_y(cls, sliding: Sliding, groups: int, x: TensorSpec, w: TensorSpec, y: TensorSpec) -> None:
        least = (x.shape[0], w.shape[1] * groups, *_extents(cls.family, sliding, x))
        most = [max(pair) - 1 for pair in zip(sliding.strides, sliding.dilations, strict=True)]
        given = zip(y.shape[2:], least[2:], most, strict=False)
        if y.ndim != x.ndim or y.shape[:2] != least[:2] or not all(0 <= has - low <= more for has, low, more in given):
            other = f", or with up to {tuple(most)} more in the spatial dimensions" if any(most) else ""
            message = f"{cls.family}: y has shape {y.shape}, needs {least}{other}; describe y so"
            raise ValueError(message)

    @classmethod
    def _divides(cls, groups: int, x: TensorSpec, w: TensorSpec) -> str:
        if groups > 0 and x.shape[1] % groups == 0 and w.shape[0] == x.shape[1]:
            return ""
        return f"one that divides x.shape[1] = {x.shape[1]}, and w.shape[0] must be that"

    @property
    def terms(self) -> int:
        """How many products an element of y is at most the sum of."""
        sliding = self.sliding
        met = [
            -(-extent * math.gcd(stride, step) // stride)
            for extent, stride, step in zip(sliding.window, sliding.strides, sliding.dilations, strict=True)
        ]
        return math.prod(met) * (self.x.shape[1] // self.groups)

    def lower(self) -> tuple[Stage, ...]:
        """Return a convolution with flipped weights, of x with zeros between its elements where it strides."""
        return tuple(stages(self))

    @property
    def flops(self) -> int:
        """A multiplication and an addition for each element of x and each weight that it meets."""
        return 2 * self.x.size * math.prod(self.w.shape[1:])


def _extents(op: str, sliding: Sliding, x: TensorSpec) -> tuple[int, ...]:
    """Return the spatial extents of y without extra ones. Raises ValueError if pads cut off all."""
    whole = sliding.reach(x.shape[2:])
    found = [
        extent - before - after for extent, before, after in zip(whole, sliding.before, sliding.after, strict=True)
    ]
    if not all(extent > 0 for extent in found):
        message = f"{op}: pads {sliding.before + sliding.after} cut off all of {whole}; needs some of it left; pad less"
        raise ValueError(message)
    return tuple(found)
