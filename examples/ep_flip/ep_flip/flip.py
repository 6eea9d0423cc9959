"""Family Flip: out = x with the order of its elements reversed along some dimensions, as numpy.flip says it.

shapes       : x and out have one shape, of rank 0 to 16, and any strides
dtypes       : every element type, the same of x and out
accumulation : none; bits are moved unchanged
NaN          : keeps its payload
infinities   : stay
signed zero  : kept
empty        : an output without elements is legal and nothing is launched
determinism  : always the same bits
in place     : x and out share no byte

It is a Copy of x seen from its other end, with negative strides, and lowers to it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from ep.integers import integer
from ep_primitives import Case, Reference
from ep_primitives.cases.arrangement import arrangements
from ep_primitives.cases.data import any_bits
from ep_primitives.cases.signature import Signature, SignatureFamily
from ep_primitives.descriptors.relocation import CopyOf
from ep_primitives.descriptors.validation import check_dtype, check_output, check_spec, chosen_output, described
from ep_primitives.elementwise.op import EVERY
from ep_primitives.judging.layout import settled
from ep_primitives.judging.reference import widened

from ep import Descriptor, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Flip", "FlipFamily"]


class Flip(CopyOf):
    """out[..., i, ...] = x[..., extent - 1 - i, ...] along each of some dimensions.

    x    : any shape, one of EVERY; read
    out  : the shape and dtype of x; written; shares no byte with x
    axis : which dimensions are reversed; negative ones count from the end

    The attributes are the axes, sorted and not negative. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "flip"

    def __init__(self, *, x: TensorSpec, out: TensorSpec, axis: Iterable[int]) -> None:
        check_output("flip", out)
        check_spec("flip", "x", x)
        check_dtype("flip", "out", out, (x.dtype,))
        if out.shape != x.shape:
            message = f"flip: out has shape {out.shape}, needs x's shape {x.shape}; describe out so"
            raise ValueError(message)
        self._freeze("-", (x, out), _checked(axis, x.ndim))

    @classmethod
    def infer(cls, x: Any, axis: Iterable[int] | None = None, *, out: Any = None) -> Self:
        """Return the descriptor; x and out are TensorSpecs or arrays, axis None is all, without out it is dense."""
        x = described("flip", "x", x)
        out = chosen_output("flip", out, x.dtype, x.shape)
        return cls(x=x, out=out, axis=range(x.ndim) if axis is None else axis)

    @property
    def axis(self) -> tuple[int, ...]:
        """The dimensions that are reversed: sorted, not negative, each once."""
        return self.attributes  # type: ignore[return-value]  # integers, as _checked made them

    @property
    def seen(self) -> TensorSpec:
        """The elements of x in the order of out."""
        strides, offset = list(self.x.strides), self.x.offset
        for axis in self.axis if self.x.size else ():
            offset += (self.x.shape[axis] - 1) * strides[axis]
            strides[axis] = -strides[axis]
        return TensorSpec(self.x.dtype, self.x.shape, tuple(strides), offset)


class FlipFamily(SignatureFamily):
    """The cells of Flip: each element type in each layout."""

    name: ClassVar[str] = "flip"
    descriptor: ClassVar[type[Descriptor]] = Flip
    layouts: ClassVar[tuple[str, ...]] = ("dense", "strided", "offset", "empty", "rank0")

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type."""
        return (Signature("-", (dtype,), dtype) for dtype in EVERY)

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield each arrangement of a tensor with the first, the last and all of its dimensions reversed."""
        dtype = signature.out
        for arrangement in arrangements(layout, ("x",)):
            x, out = (TensorSpec(dtype, *form) for form in arrangement.forms if form)
            if x.shape != out.shape or (arrangement.is_bytes and x.itemsize > 1):
                continue
            everything = tuple(range(x.ndim))
            for axes in dict.fromkeys((everything[:1], everything[-1:], everything)):
                yield Case(
                    "-".join([arrangement.name, "along", *(map(str, axes) if axes else ["none"])]),
                    Flip(x=x, out=out, axis=axes),
                    partial(_drawn, x),
                    profile=arrangement.profile,
                    shift=arrangement.shift * x.itemsize,
                )

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the reversed input."""
        return Reference(widened(descriptor.out.dtype, self.moved(descriptor, inputs)))

    def moved(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Any:
        """Return the reversed input, bit for bit."""
        return np.flip(inputs["x"], descriptor.attributes)  # type: ignore[arg-type]  # integers


def _drawn(x: TensorSpec, rng: np.random.Generator) -> dict[str, Any]:
    return {"x": settled(x, any_bits(rng, x.dtype, x.shape))}


def _checked(axis: Any, rank: int) -> tuple[int, ...]:
    """Return the axes sorted and not negative."""
    try:
        given = [integer("flip: axis", each) for each in axis]
    except TypeError:
        message = f"flip: axis is {axis!r}, needs integers; give a tuple, such as (0,) or (0, -1)"
        raise TypeError(message) from None
    chosen = tuple(sorted({axis % rank for axis in given if -rank <= axis < rank}))
    if len(chosen) != len(given):
        message = f"flip: axis is {axis!r}, needs dimensions from {-rank} to {rank - 1}; name each once"
        raise ValueError(message)
    return chosen
