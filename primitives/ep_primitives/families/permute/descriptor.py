"""Family Permute: out = x with its dimensions in another order, as numpy.transpose says it.

shapes       : dimension i of out is dimension permutation[i] of x; ranks 0 to 16, any strides
dtypes       : every element type, the same of x and out
accumulation : none; bits are moved unchanged
NaN          : keeps its payload
infinities   : stay
signed zero  : kept
empty        : an output without elements is legal and nothing is launched
determinism  : always the same bits
in place     : x and out share no byte

It is a Copy of x with its shape and strides permuted, and lowers to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ep import Descriptor, TensorSpec
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.relocation import CopyOf
from ep_primitives.descriptors.validation import (
    check_dtype,
    check_output,
    check_spec,
    chosen_output,
    described,
    one_a_dimension,
)
from ep_primitives.elementwise.op import EVERY
from ep_primitives.families.permute import cases as permute_cases
from ep_primitives.families.permute.situations import permute_model, planned
from ep_primitives.judging.reference import Reference, widened
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ep_primitives.cases.case import Case
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Array
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["Permute", "PermuteFamily"]


class Permute(CopyOf):
    """out[i, j, ...] = x with dimension permutation[d] of x as dimension d of out.

    x           : read
    out         : the dtype of x; extent d is the extent of dimension permutation[d] of x; written; shares no byte with x
    permutation : each dimension of x once; negative ones count from the end

    The attributes are the permutation, without negative ones. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "permute"

    def __init__(self, *, x: TensorSpec, out: TensorSpec, permutation: Sequence[int]) -> None:
        check_output("permute", out)
        check_spec("permute", "x", x)
        check_dtype("permute", "out", out, (x.dtype,))
        chosen = _checked(permutation, x)
        needed = tuple(x.shape[axis] for axis in chosen)
        if out.shape != needed:
            message = f"permute: out has shape {out.shape}, needs {needed}: x {x.shape} in the order {chosen}; describe out so"
            raise ValueError(message)
        self._freeze("-", (x, out), chosen)

    @classmethod
    def infer(cls, x: Any, permutation: Sequence[int], *, out: Any = None) -> Self:
        """Return the descriptor; x and out are TensorSpecs or arrays, without out it is dense."""
        x = described("permute", "x", x)
        chosen = _checked(permutation, x)
        out = chosen_output("permute", out, x.dtype, tuple(x.shape[axis] for axis in chosen))
        return cls(x=x, out=out, permutation=chosen)

    @property
    def permutation(self) -> tuple[int, ...]:
        """For each dimension of out the dimension of x that it is."""
        return self.attributes  # type: ignore[return-value]  # integers, as they were given

    @property
    def seen(self) -> TensorSpec:
        """The elements of x in the order of out."""
        x, permutation = self.x, self.permutation
        shape = tuple([x.shape[axis] for axis in permutation])
        return TensorSpec(x.dtype, shape, tuple([x.strides[axis] for axis in permutation]), x.offset)


class PermuteFamily(PlannedFamily):
    """The cells of Permute: each element type in each layout."""

    name: ClassVar[str] = "permute"
    descriptor: ClassVar[type[Descriptor]] = Permute
    layouts: ClassVar[tuple[str, ...]] = tuple(permute_cases.PLANS)
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {"33x17": ("float32",), "rank-3-1-2-0": ("float32",)}

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type."""
        return (Signature("-", (dtype,), dtype) for dtype in EVERY)

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of an element type in a layout."""
        return permute_cases.cases(Permute, signature.out, layout)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return permute_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return permute_cases.planned_case(Permute, planned(layout, row, seed), signature.out)

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the transposed input."""
        return Reference(widened(descriptor.out.dtype, self.moved(descriptor, inputs)))

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the element of x."""
        del inputs, output
        return {"x": tuple(at[descriptor.permutation.index(axis)] for axis in range(descriptor.x.ndim))}

    def moved(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Array:
        """Return the transposed input, bit for bit."""
        return np.transpose(inputs["x"], descriptor.attributes)  # type: ignore[arg-type]  # integers


def _checked(permutation: Any, x: TensorSpec) -> tuple[int, ...]:
    """Return the permutation of x without negative dimensions."""
    given = one_a_dimension("permute", "permutation", permutation, x)
    for axis in given:
        if not -x.ndim <= axis < x.ndim:
            message = (
                f"permute: permutation {given} names dimension {axis}, which x {x.shape} does not have; "
                f"dimensions are 0 to {x.ndim - 1}, or -{x.ndim} to -1 from the end"
            )
            raise ValueError(message)
    chosen = tuple(axis % x.ndim for axis in given)
    missing = sorted(set(range(x.ndim)) - set(chosen))
    if missing:
        twice = sorted({axis for axis in chosen if chosen.count(axis) > 1})
        message = (
            f"permute: permutation {given} names {_listed(twice)} more than once and not {_listed(missing)}; "
            f"needs each dimension of x {x.shape} once"
        )
        raise ValueError(message)
    return chosen


def _listed(axes: list[int]) -> str:
    return f"dimension{'s' if len(axes) > 1 else ''} {', '.join(map(str, axes))}"
