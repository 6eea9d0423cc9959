"""Family TensorFill: out = x, a tensor of one element; Fill takes a number that the launch gives in its place.

shapes       : x of one element and any rank; out of any shape and strides; bytes between its elements stay
dtypes       : every element type, the same of x and out
accumulation : none; bits are moved unchanged
NaN          : keeps its payload
infinities   : stay
signed zero  : kept
empty        : an output without elements is legal and nothing is launched; x always has one
determinism  : always the same bits
in place     : x and out share no byte

It is a Copy of that element, broadcast, and lowers to it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from ep import Descriptor, TensorSpec
from ep_primitives.cases.arrangement import Form, arrangements
from ep_primitives.cases.case import Case
from ep_primitives.cases.data import any_bits
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.relocation import CopyOf
from ep_primitives.descriptors.validation import agreed, check_dtype, check_output, check_spec, dense_output, described
from ep_primitives.elementwise.op import EVERY
from ep_primitives.families.tensor_fill.situations import planned, tensor_fill_model
from ep_primitives.judging.reference import Reference, widened
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Array
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["TensorFill", "TensorFillFamily"]

_ONES: Final = (Form(()), Form((1,)), Form((1, 1, 1)), Form((1,) * 16))


class TensorFill(CopyOf):
    """out = the element of x, bits unchanged.

    x   : one element, of any rank; read
    out : the dtype of x; written; shares no byte with x

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "tensor_fill"

    def __init__(self, *, x: TensorSpec, out: TensorSpec) -> None:
        check_output("tensor_fill", out)
        check_spec("tensor_fill", "x", x)
        if x.size != 1:
            message = (
                f"tensor_fill: x has shape {x.shape}, {x.size} elements, needs exactly one; "
                f"describe the one by TensorSpec({x.dtype!r}, (), offset=...), or use Copy to broadcast"
            )
            raise ValueError(message)
        check_dtype("tensor_fill", "out", out, (x.dtype,))
        self._freeze("-", (x, out))

    @classmethod
    def infer(cls, x: Any, shape: tuple[int, ...] | None = None, *, out: Any = None) -> Self:
        """Return the descriptor.

        x     : a TensorSpec or an array
        shape : of out; may be left out beside `out`
        out   : a TensorSpec or an array; None: dense
        """
        x = described("tensor_fill", "x", x)
        if out is None:
            return cls(x=x, out=dense_output("tensor_fill", x.dtype, shape))
        out = described("tensor_fill", "out", out)
        agreed(
            "tensor_fill",
            "shape",
            None if shape is None else dense_output("tensor_fill", x.dtype, shape).shape,
            out.shape,
        )
        return cls(x=x, out=out)

    @property
    def seen(self) -> TensorSpec:
        """The element as a tensor of rank 0."""
        return TensorSpec(self.x.dtype, (), None, self.x.offset)


class TensorFillFamily(PlannedFamily):
    """The cells of TensorFill: each element type in each layout."""

    name: ClassVar[str] = "tensor_fill"
    descriptor: ClassVar[type[Descriptor]] = TensorFill
    layouts: ClassVar[tuple[str, ...]] = ("dense", "strided", "offset", "empty", "rank0")
    has_one_kernel: ClassVar[bool] = True
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {"odd": ("float32",), "size-17": ("int64",)}

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type."""
        return (Signature("-", (dtype,), dtype) for dtype in EVERY)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return tensor_fill_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        x, out = (TensorSpec(signature.out, *form) for form in planned(layout, row, seed))
        descriptor = TensorFill(x=x, out=out)
        return Case("", descriptor, partial(_drawn, descriptor))

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield a case for each way that out lies; x is of one rank after another, and in layout offset has one, too."""
        dtype = signature.out
        for number, arrangement in enumerate(arrangements(layout, ())):
            form = arrangement.forms[-1]
            assert form is not None
            out = TensorSpec(dtype, *form)
            if arrangement.is_bytes and out.itemsize > 1:
                continue
            one = _ONES[number % len(_ONES)]
            moved = one._replace(offset=3 * number + 5) if form.offset and layout == "offset" else one
            descriptor = TensorFill(x=TensorSpec(dtype, *moved), out=out)
            shift = arrangement.shift * out.itemsize
            data = partial(_drawn, descriptor)
            yield Case(arrangement.name, descriptor, data, profile=arrangement.profile, shift=shift)

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the element, broadcast."""
        return Reference(np.broadcast_to(widened(descriptor.out.dtype, inputs["x"]).reshape(()), descriptor.out.shape))

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the one element of x."""
        del inputs, output, at
        return {"x": (0,) * descriptor.x.ndim}

    def moved(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Array:
        """Return the element, broadcast, bit for bit."""
        return np.broadcast_to(inputs["x"].reshape(()), descriptor.out.shape)


def _drawn(descriptor: TensorFill, rng: np.random.Generator) -> dict[str, Any]:
    return {"x": any_bits(rng, descriptor.x.dtype, descriptor.x.shape)}
