"""Family Copy: out = x, the same element type on both sides, between any two strided layouts.

shapes       : x broadcasts to out; any strides; a box of a larger tensor is a shape, strides and an offset
dtypes       : every element type, the same of x and out
accumulation : none; bits are moved unchanged, also the bits of a bool's byte
NaN          : keeps its payload
infinities   : stay
signed zero  : kept
empty        : an output without elements is legal and nothing is launched
determinism  : always the same bits
in place     : x and out share no byte
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

import ep
from ep import Descriptor, Role, Roles, TensorSpec
from ep_primitives.cases import data
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.validation import check_dtype, check_input, check_output, chosen_output, described
from ep_primitives.elementwise.cells import ElementwiseFamily
from ep_primitives.elementwise.op import EVERY
from ep_primitives.judging.layout import settled
from ep_primitives.judging.reference import Reference, widened

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep_primitives.judging.reference import Array

__all__ = ["COPY_DTYPES", "Copy", "CopyFamily"]

COPY_DTYPES: Final = EVERY
"""The element types that can be copied."""


class Copy(Descriptor):
    """out = x, bits unchanged; x is broadcast to the shape of out.

    x   : broadcasts to out.shape, one of COPY_DTYPES; read
    out : the dtype of x; written; shares no byte with x

    Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "copy"
    roles: ClassVar[Roles] = Roles(Role.input("x"), Role.output("out"))

    def __init__(self, *, x: TensorSpec, out: TensorSpec) -> None:
        check_output("copy", out)
        check_input("copy", "x", x, out)
        check_dtype("copy", "x", x, COPY_DTYPES)
        check_dtype("copy", "out", out, (x.dtype,))
        self._freeze("-", (x, out))

    @classmethod
    def infer(cls, x: Any, *, out: Any = None) -> Self:
        """Return the descriptor; x and out are TensorSpecs or arrays, without out it is dense and of the shape of x."""
        x = described("copy", "x", x)
        return cls(x=x, out=chosen_output("copy", out, x.dtype, x.shape))

    @property
    def flops(self) -> int:
        """Nothing is computed."""
        return 0


class CopyFamily(ElementwiseFamily):
    """The cells of Copy: each element type in each layout."""

    name: ClassVar[str] = "copy"
    descriptor: ClassVar[type[Descriptor]] = Copy
    tensors: ClassVar[int] = 1
    layouts: ClassVar[tuple[str, ...]] = ("dense", "strided", "broadcast", "offset", "empty", "rank0")

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type."""
        return (Signature("-", (dtype,), dtype) for dtype in COPY_DTYPES)

    def kernel(self, signature: Signature) -> Hashable:
        """Return whether elements are bytes, of 2 or 4 bytes, or wider."""
        return min(ep.dtype(signature.out).itemsize.bit_length() // 2, 2)

    def describe(self, _op: str, specs: Mapping[str, Any], _attributes: tuple[float, ...], /) -> Descriptor:
        """Return the descriptor of a copy between these operands."""
        return Copy(**specs)

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the input, broadcast."""
        return Reference(np.broadcast_to(widened(descriptor.out.dtype, inputs["x"]), descriptor.out.shape))

    def _random(self, signature: Signature, descriptor: Descriptor, rng: np.random.Generator) -> dict[str, Any]:
        x = descriptor.specs[0]
        assert isinstance(x, TensorSpec)
        if x.size <= 1:
            return super()._random(signature, descriptor, rng)
        distinct = tuple(extent if stride else 1 for extent, stride in zip(x.shape, x.strides, strict=True))
        values = data.any_bits(rng, x.dtype, distinct)
        return {"x": settled(x, np.broadcast_to(values, x.shape))}

    def moved(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Array:
        """Return the input, broadcast, bit for bit."""
        return np.broadcast_to(inputs["x"], descriptor.out.shape)
