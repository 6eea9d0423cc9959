"""Family Convolution: y = x with windows of it multiplied by weights and summed, as ONNX's Conv and PyTorch's conv1d to conv3d.

definition   : y[n, m, o] = bias[m] + the sum of x[n, c, o stride + k dilation - before] w[m, c, k] over the channels c of m's group
               and all k, o and k with a number for each spatial dimension; x is 0 where it has no element. Nothing is flipped
shapes       : x (N, C, S...), w (M, C / groups, K...), bias (M,), y (N, M, O...) with 1 to 6 spatial dimensions and O = (before + S +
               after - (K - 1) dilation - 1) // stride + 1, at least 1; any strides, also such that elements of x are shared
groups       : divide C and M; group g takes the g-th part of the channels to the g-th part of M. As many as C: depthwise
dtypes       : float16, bfloat16, float32, float64, the same of all; or int8 or uint8 for x and w, with int32 for bias and y
accumulation : float32 for float16 and bfloat16, whose result is rounded once; int32, wrapping, for int8 and uint8; else the type
               itself. The order of the sum, with or without fused multiply-add, is open
NaN          : IEEE 754 holds term by term: a NaN in x makes all y of windows with it NaN, one in w or bias all y of its m. Whether a
               weight that is not finite meets the zeros around x, which gives NaN, is open; so is the result where a partial sum overflows
infinities   : as NaN: inf - inf and 0 inf are NaN, elsewhere an infinity stays
signed zero  : the sign of a zero result is open
empty        : a sum over nothing (C = 0) is 0, so y = bias; an empty y does nothing; an empty x with pads is zeros
determinism  : equal calls on one device give equal bits, whatever the number of threads. Whether an image, a group or a place has the
               same bits when it is computed alone is the provider's choice
in place     : y shares no byte with x, w or bias
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from ep_primitives.descriptors.validation import check_dtype, chosen_output, described
from ep_primitives.families.convolution.stages import stages
from ep_primitives.sliding.weighted import Weighted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ep import Stage, TensorSpec
    from ep_primitives.sliding.windows import Sliding

__all__ = ["CONVOLUTION_DTYPES", "Convolution"]

CONVOLUTION_DTYPES: Final[Mapping[str, str]] = {
    **{name: name for name in ("float16", "bfloat16", "float32", "float64")},
    **dict.fromkeys(("int8", "uint8"), "int32"),
}
"""The element types of x and w, and for each the type of bias and y."""


class Convolution(Weighted):
    """y = windows of x, weighted and summed over channels, with a bias.

    x         : (N, C, S...), one of CONVOLUTION_DTYPES, any strides; read
    w         : (M, C / groups, K...), the dtype of x, any strides; read
    bias      : (M,), the dtype of y; read; None is 0
    y         : (N, M, O...); written; shares no byte with the others
    strides   : from one window to the next; an integer, or one for each spatial dimension, at least 1
    dilations : from one element of a window to the next; as strides
    pads      : zeros beside x: an integer, one for each spatial dimension, or all before and then all after, at least 0
    groups    : a divisor of C and M

    Attributes are strides, dilations, pads before, pads after and groups. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "convolution"
    dtypes: ClassVar[Mapping[str, str]] = CONVOLUTION_DTYPES
    form: ClassVar[str] = "(M, C / groups, K...)"

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
        groups: int = 1,
        y: Any = None,
    ) -> Self:
        """Return the descriptor.

        x, w, bias : TensorSpecs, or arrays that TensorSpec.of reads; no bias: None
        y          : a TensorSpec or an array; None: a dense one
        """
        op = cls.family
        x, w = described(op, "x", x), described(op, "w", w)
        bias = None if bias is None else described(op, "bias", bias)
        check_dtype(op, "x", x, tuple(CONVOLUTION_DTYPES))
        sliding = cls._sliding(x, w, strides=strides, dilations=dilations, pads=pads)
        shape = (x.shape[0], w.shape[0], *sliding.counts(op, x.shape[2:]))
        y = chosen_output(op, y, CONVOLUTION_DTYPES[x.dtype], shape, "y")
        return cls(x=x, w=w, bias=bias, y=y, strides=strides, dilations=dilations, pads=pads, groups=groups)

    @classmethod
    def _check_y(cls, sliding: Sliding, groups: int, x: TensorSpec, w: TensorSpec, y: TensorSpec) -> None:
        del groups
        needed = (x.shape[0], w.shape[0], *sliding.counts(cls.family, x.shape[2:]))
        if y.shape != needed:
            message = f"{cls.family}: y has shape {y.shape}, needs {needed} for this x, w, strides, dilations and pads; describe y so"
            raise ValueError(message)

    @classmethod
    def _divides(cls, groups: int, x: TensorSpec, w: TensorSpec) -> str:
        if groups > 0 and w.shape[1] * groups == x.shape[1] and w.shape[0] % groups == 0:
            return ""
        return f"one that divides M = {w.shape[0]}, and w.shape[1] times it is x.shape[1] = {x.shape[1]}"

    @property
    def terms(self) -> int:
        """How many products each element of y is the sum of."""
        return math.prod(self.w.shape[1:])

    def lower(self) -> tuple[Stage, ...]:
        """Return a product of weights and windows: of these where they lie if strides can say it, else of copies."""
        return tuple(stages(self))

    @property
    def flops(self) -> int:
        """A multiplication and an addition a product."""
        return 2 * self.out.size * self.terms
