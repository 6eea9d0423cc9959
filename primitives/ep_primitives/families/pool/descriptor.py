"""Family Pool: y = x with windows of it reduced, channel by channel; the ops are in rows.py.

definition   : y[n, c, o] = op of x[n, c, o stride + k dilation - before] for all k, with a number for each spatial dimension in o and k;
               places of a window outside x have no element, and change no result
shapes       : x (N, C, S...) and y (N, C, O...) with 1 to 6 spatial dimensions, any strides, also such that elements of x are shared;
               O = (before + S + after - (window - 1) dilation - 1) // stride + 1, at least 1, or in any dimension one more: if the
               division rounded up gives one more, and the last window begins in x or before it. That window reaches beyond the pads
dtypes       : a row each, the same of x and y
accumulation : float32 for float16 and bfloat16, rounded once at the end; else the type itself
NaN          : one in a window gives NaN
infinities   : as IEEE 754 adds them; max and norms find them
signed zero  : max(-0, +0) = +0, a norm is +0; the sign of a zero average is open
empty        : an output without elements is legal and nothing is launched; a window without elements of x gives its row's value
determinism  : a result depends on the values of its own window, and on where it lies, alone: equal bits whatever the number of threads,
               of images and of channels. The tree of a sum is the provider's choice
in place     : x and y share no byte
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ep.dtypes import DTYPES

from ep import Role, Roles, Stage, TensorSpec
from ep_primitives.descriptors.validation import (
    check_dtype,
    check_output,
    check_spec,
    chosen_output,
    chosen_row,
    described,
    flag,
)
from ep_primitives.families.pool.rows import POOL_OPS
from ep_primitives.families.pool.stages import stages
from ep_primitives.sliding.descriptor import SlidingDescriptor
from ep_primitives.sliding.windows import Sliding, check_spatial, window_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Pool"]


class Pool(SlidingDescriptor):
    """y = op over windows of x.

    op          : a name in POOL_OPS
    x           : (N, C, S...), one of the row's element types, any strides; read
    y           : (N, C, O...), the dtype of x; written; shares no byte with x
    window      : elements of a window; an integer, or one for each spatial dimension, at least 1
    strides     : from one window to the next; as window
    dilations   : from one element of a window to the next; as window
    pads        : how far windows reach beside x: an integer, one for each spatial dimension, or all before and then all after
    counts_pads : of average alone: True divides by the number of elements and of pads that a window touches

    Attributes are strides, dilations, pads before, pads after, window and counts_pads. Raises TypeError or ValueError for
    anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "pool"
    roles: ClassVar[Roles] = Roles(Role.input("x"), Role.output("y"))

    def __init__(  # noqa: PLR0913 - operands and attributes
        self,
        op: str,
        *,
        x: TensorSpec,
        y: TensorSpec,
        window: Sequence[int] | int,
        strides: Sequence[int] | int = 1,
        dilations: Sequence[int] | int = 1,
        pads: Sequence[int] | int = 0,
        counts_pads: bool = False,
    ) -> None:
        row = chosen_row(self.family, op, POOL_OPS)
        where = _named(row.name)
        check_output(where, y, "y")
        check_spec(where, "x", x)
        check_dtype(where, "x", x, row.dtypes)
        check_dtype(where, "y", y, (x.dtype,), is_output=True)
        sliding = _sliding(where, x, window=window, strides=strides, dilations=dilations, pads=pads)
        least, most = (sliding.counts(where, x.shape[2:], is_ceil=is_ceil) for is_ceil in (False, True))
        counts = y.shape[2:]
        fits = len(counts) == len(least) and all(
            count in pair for count, *pair in zip(counts, least, most, strict=True)
        )
        if y.shape[:2] != x.shape[:2] or not fits:
            other = (
                f", or up to {(*x.shape[:2], *most)} with windows that reach beyond the pads" if least != most else ""
            )
            message = f"{where}: y has shape {y.shape}, needs {(*x.shape[:2], *least)}{other}; describe y so"
            raise ValueError(message)
        counted = flag(where, "counts_pads", counts_pads)
        if counted and row.name != "average":
            message = f"{where}: counts_pads is True, and {row.name} counts nothing; leave it out"
            raise ValueError(message)
        self._freeze(row.name, (x, y), (*sliding.attributes, *sliding.window, int(counted)))

    @classmethod
    def infer(  # noqa: PLR0913 - as above
        cls,
        op: str,
        x: Any,
        window: Sequence[int] | int,
        *,
        strides: Sequence[int] | int = 1,
        dilations: Sequence[int] | int = 1,
        pads: Sequence[int] | int = 0,
        ceil: bool = False,
        counts_pads: bool = False,
        y: Any = None,
    ) -> Self:
        """Return the descriptor.

        x      : a TensorSpec, or an array that TensorSpec.of reads
        window : and strides, dilations, pads, counts_pads as in the constructor
        ceil   : True rounds the number of windows up, ONNX's and PyTorch's ceil_mode
        y      : a TensorSpec or an array, in place of ceil; None: a dense one
        """
        row = chosen_row(cls.family, op, POOL_OPS)
        where = _named(row.name)
        x = described(where, "x", x)
        check_dtype(where, "x", x, row.dtypes)
        sliding = _sliding(where, x, window=window, strides=strides, dilations=dilations, pads=pads)
        is_ceil = flag(where, "ceil", ceil)
        shape = (*x.shape[:2], *sliding.counts(where, x.shape[2:], is_ceil=is_ceil))
        y = chosen_output(where, y, x.dtype, shape, "y")
        if is_ceil and y.shape != shape:
            message = (
                f"{where}: ceil is True and makes {shape}, and y has {y.shape}; leave ceil out, or describe another y"
            )
            raise ValueError(message)
        return cls(
            op, x=x, y=y, window=window, strides=strides, dilations=dilations, pads=pads, counts_pads=counts_pads
        )

    @property
    def title(self) -> str:
        """The operation's name in messages, because an op alone does not name it."""
        return _named(self.op)

    @property
    def window(self) -> tuple[int, ...]:
        """The elements of a window, along each spatial dimension."""
        return self.attributes[4 * (self.x.ndim - 2) : -1]  # type: ignore[return-value]  # integers, as the constructor put them there

    @property
    def counts_pads(self) -> bool:
        """Whether an average divides by the number of pads, too."""
        return bool(self.attributes[-1])

    @property
    def sliding(self) -> Sliding:
        """How windows lie in x."""
        return Sliding.of(self.window, self.attributes)

    @property
    def terms(self) -> int:
        """The number of elements of a window."""
        return math.prod(self.window)

    @property
    def compute(self) -> str:
        """The type that sums are made in."""
        return DTYPES[self.x.dtype].compute

    def lower(self) -> tuple[Stage, ...]:
        """Return a reduction over windows where they lie, of x continued where they reach beyond it."""
        return tuple(stages(self))

    @property
    def flops(self) -> int:
        """One operation an element of a window."""
        return self.out.size * self.terms

    def __repr__(self) -> str:
        parts = [f"x={self.x!r}", f"y={self.out!r}", f"window={self.window}", f"strides={self.strides}"]
        parts += [f"dilations={self.dilations}", f"pads={self.pads}"]
        parts += ["counts_pads=True"] if self.counts_pads else []
        return f"Pool({self.op!r}, {', '.join(parts)})"


def _named(op: str) -> str:
    return f"pool/{op}"


def _sliding(op: str, x: TensorSpec, *, window: Any, **more: Any) -> Sliding:
    """Return how windows lie in x. Raises for ranks that do not fit, and as `Sliding.checked` does."""
    return Sliding.checked(op, "window", window_of(op, window, check_spatial(op, "x", x)), **more)
