"""Family Fill: one number, given at launch, to every element of a tensor (a stream's `fill` writes bytes instead).

shapes       : out of any shape and strides; bytes between its elements stay
dtypes       : every element type
accumulation : none
values       : the number is held in the compute type and rounded once to the element type
NaN          : fills a NaN of any payload
infinities   : kept; a number too large for the element type becomes one; float8_e4m3fn, which has none, gets NaN
signed zero  : kept
empty        : an output without elements is legal and nothing is launched
determinism  : always the same bits
in place     : there is no input to share memory with
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
from ep.ground.glimpse import glimpse

from ep import Descriptor, Role, Roles, Scalar, TensorSpec
from ep_primitives.cases import data
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.validation import check_dtype, check_output, described
from ep_primitives.elementwise.cells import ElementwiseFamily
from ep_primitives.elementwise.op import EVERY
from ep_primitives.judging.reference import Reference, widened

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep_primitives.cases.arrangement import Arrangement, Form

__all__ = ["FILL_DTYPES", "Fill", "FillFamily"]

FILL_DTYPES: Final = EVERY
"""The element types that can be filled."""


class Fill(Descriptor):
    """out = value, for each element.

    value : Scalar of the dtype of out; a number at launch
    out   : one of FILL_DTYPES; written

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "fill"
    roles: ClassVar[Roles] = Roles(Role.number("value"), Role.output("out"))

    def __init__(self, *, value: Scalar, out: TensorSpec) -> None:
        check_output("fill", out)
        if type(value) is not Scalar:
            message = (
                f"fill: value is {glimpse(value)}, not a Scalar; give Scalar({out.dtype!r}), and the number at launch"
            )
            raise TypeError(message)
        check_dtype("fill", "out", out, FILL_DTYPES)
        check_dtype("fill", "value", value, (out.dtype,))
        self._freeze("-", (value, out))

    @classmethod
    def infer(cls, out: Any) -> Self:
        """Return the descriptor that fills `out`, a TensorSpec or an array."""
        out = described("fill", "out", out)
        return cls(value=Scalar(out.dtype), out=out)

    @property
    def flops(self) -> int:
        """Nothing is computed."""
        return 0


class FillFamily(ElementwiseFamily):
    """The cells of Fill: each element type in each layout."""

    name: ClassVar[str] = "fill"
    descriptor: ClassVar[type[Descriptor]] = Fill
    tensors: ClassVar[int] = 0
    layouts: ClassVar[tuple[str, ...]] = ("dense", "strided", "offset", "empty", "rank0")

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type."""
        return (Signature("-", (dtype,), dtype) for dtype in FILL_DTYPES)

    def kernel(self, signature: Signature) -> Hashable:  # noqa: ARG002 - the interface is SituatedFamily's
        """Return that all element types share one kernel in profile quick: nothing is read."""
        return ""

    def describe(self, _op: str, specs: Mapping[str, Any], _attributes: tuple[float, ...], /) -> Descriptor:
        """Return the descriptor of a fill of this output."""
        return Fill(**specs)

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the number in every element."""
        return Reference(np.broadcast_to(widened(descriptor.out.dtype, inputs["value"]), descriptor.out.shape))

    def value_cases(self, signature: Signature) -> Iterator[Case]:
        """Yield one case a number."""
        dtype = signature.out
        descriptor = Fill.infer(TensorSpec(dtype, (257,)))
        for name, value in data.numbers(dtype).items():
            yield Case(f"value-{name}", descriptor, partial(_given, value), fill="designed")

    def scalar(self, signature: Signature, side: int, rng: np.random.Generator) -> Any:
        """Return a number of the element type other than 0."""
        return True if signature.out == "bool" else super().scalar(signature, side, rng)

    def _forms(self, arrangement: Arrangement) -> tuple[Form | None, ...]:
        return (None, *arrangement.forms)


def _given(value: Any, _rng: np.random.Generator) -> dict[str, Any]:
    return {"value": value}
