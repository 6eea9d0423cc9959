"""Family Pad: out is x with its borders continued, or cut off; the modes are in rows.py.

shapes       : out.shape[d] = before[d] + x.shape[d] + after[d]; ranks 0 to 16, any strides. Counts are at least 0, but for
               constant, where negative ones crop, also more than there is
dtypes       : every element type, the same of x and out
value        : of constant alone: a number given at launch, 0 if left out, held in the compute type and rounded once to the
               element type
accumulation : none; bits are moved unchanged
NaN          : keeps its payload; a value that is NaN becomes one of any payload
infinities   : stay
signed zero  : kept, of the value too
empty        : an output without elements is legal and nothing is launched; an x without elements leaves constant the value
               everywhere, and the other modes an output without elements
determinism  : always the same bits
in place     : x and out share no byte
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
from ep.work.key import KernelKey, kernel_key

from ep import Descriptor, Role, Roles, Scalar, TensorSpec
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.relocation import Relocation, words
from ep_primitives.descriptors.validation import (
    check_dtype,
    check_output,
    check_spec,
    chosen_output,
    chosen_row,
    described,
    one_a_dimension,
)
from ep_primitives.elementwise.op import EVERY
from ep_primitives.families.pad import cases as pad_cases
from ep_primitives.families.pad.rows import PAD_OPS, PadOp
from ep_primitives.families.pad.situations import CROPS, pad_model, planned
from ep_primitives.judging.reference import Array, Reference, array_dtype, compute_number, widened
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from ep_primitives.cases.case import Case
    from ep_primitives.judging.origin import Index
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["Pad", "PadFamily"]

_COUNT_BITS: Final = 256  # a crop and a pad may each exceed any memory while the result does not


class Pad(Relocation):
    """out = x, continued by `before` elements at the start and `after` elements at the end of each dimension.

    op            : name of a row of `rows`
    x             : read
    value         : Scalar of the dtype of x, a number at launch, 0 if left out; absent but of constant
    out           : the dtype of x, extents before + x + after; written; shares no byte with x
    before, after : elements for each dimension; negative ones, of constant alone, crop

    The attributes are before, then after. Raises TypeError or ValueError for anything else.
    """

    __slots__ = ()

    family: ClassVar[str] = "pad"
    roles: ClassVar[Roles] = Roles(
        Role.input("x"), Role.number("value", default=0, is_optional=True), Role.output("out")
    )

    def __init__(self, op: str, *, x: TensorSpec, out: TensorSpec, before: Sequence[int], after: Sequence[int]) -> None:
        row = chosen_row(self.family, op, PAD_OPS)
        where = _named(row.name)
        check_output(where, out)
        check_spec(where, "x", x)
        check_dtype(where, "out", out, (x.dtype,))
        counts = _counts(row, x, before, after)
        needed = _shape(row, x, *counts)
        if out.shape != needed:
            message = f"{where}: out has shape {out.shape}, needs {needed}: x {x.shape} with {counts[0]} before and {counts[1]} after; describe out so"
            raise ValueError(message)
        value = Scalar(x.dtype) if row.has_value else None
        self._freeze(op, (x, value, out), (*counts[0], *counts[1]))

    @classmethod
    def infer(cls, op: str, x: Any, before: Sequence[int], after: Sequence[int], *, out: Any = None) -> Self:
        """Return the descriptor; x and out are TensorSpecs or arrays, without out it is dense."""
        row = chosen_row(cls.family, op, PAD_OPS)
        x = described(_named(row.name), "x", x)
        out = chosen_output(_named(row.name), out, x.dtype, _shape(row, x, *_counts(row, x, before, after)))
        return cls(op, x=x, out=out, before=before, after=after)

    @property
    def title(self) -> str:
        """The operation's name in messages, because a mode alone does not name it."""
        return _named(self.op)

    @property
    def before(self) -> tuple[int, ...]:
        """Elements in front of x, for each dimension."""
        return self.attributes[: self.x.ndim]  # type: ignore[return-value]  # integers, as they were given

    @property
    def after(self) -> tuple[int, ...]:
        """Elements added after x's last, for each dimension."""
        return self.attributes[self.x.ndim :]  # type: ignore[return-value]  # as above

    @property
    def seen(self) -> tuple[slice, ...]:
        """The part of x that out holds: all, unless it is cropped."""
        sides = zip(self.x.shape, self.before, self.after, strict=True)
        return tuple(slice(max(-before, 0), max(extent + min(after, 0), 0)) for extent, before, after in sides)

    @property
    def nbytes_moved(self) -> int:
        """The bytes of out, and the bytes of x that it holds."""
        extents = (
            max(part.stop - part.start, 0) if step else 1 for part, step in zip(self.seen, self.x.strides, strict=True)
        )
        return (self.out.size + math.prod(extents)) * self.out.itemsize

    def _make_key(self) -> KernelKey:
        return kernel_key(
            self,
            is_dense=self.x.is_dense and self.out.is_dense,
            size=self.out.size,
            inner=self.out.shape[-1] if self.out.shape else 1,
            outer=[(spec, spec.strides[:-1]) for spec in (self.x, self.out)],
        )


class PadFamily(PlannedFamily):
    """The cells of Pad: each mode with each element type in each layout."""

    name: ClassVar[str] = "pad"
    descriptor: ClassVar[type[Descriptor]] = Pad
    rows: ClassVar[Mapping[str, PadOp]] = PAD_OPS
    layouts: ClassVar[tuple[str, ...]] = tuple(pad_cases.PLANS)
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "rank-3": ("float32",),
        "largest": ("float32",),
        "line": ("float32",),
        "more-than-extent": ("float32",),
        "crop": ("float32",),
        "crop-to-border": ("float32",),
        "crop-to-front": ("float32",),
        "crop-and-pad": ("float32",),
        "empty-x": ("float32",),
        "value-seven": ("int32",),
        "value-bytes": ("int64",),
        "value-nan": ("float32", "bfloat16"),
        "value-negative-zero": ("float32", "complex64"),
        "value-subnormal": ("float64", "float16"),
        "value-rounded": ("bfloat16", "float8_e4m3"),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every mode with every element type."""
        return (Signature(op, (dtype,), dtype) for op in PAD_OPS for dtype in EVERY)

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of a mode and an element type in a layout."""
        return pad_cases.cases(Pad, signature.op, signature.out, layout)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return pad_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        plan = planned(signature.op, layout, row, seed)
        return pad_cases.planned_case(Pad, signature.op, plan, signature.out)

    def kernel(self, signature: Signature) -> Hashable:
        """Return whether places without an element have a value; the modes that repeat elements share a kernel."""
        return self.rows[signature.op].has_value

    def lacks(self, signature: Signature, layout: str) -> Mapping[str, Sequence[str]]:
        """Return that only mode constant crops."""
        if self.rows[signature.op].has_value:
            return {}
        return {each.name: (CROPS,) for each in pad_model(layout).dimensions if CROPS in each.values}

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the tensors with their element types."""
        return (("x", signature.inputs[0]), ("out", signature.out))

    def reference(self, descriptor: Any, inputs: Mapping[str, Any]) -> Reference:
        """Return x taken along each dimension in turn."""
        return Reference(widened(descriptor.out.dtype, _padded(descriptor, inputs)))

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the element of x, nothing where the value stands."""
        del inputs, output
        row, x = PAD_OPS[descriptor.op], descriptor.x
        sides = zip(at, descriptor.before, x.shape, strict=True)
        index = tuple(int(row.index(np.asarray(i - before), extent)) for i, before, extent in sides)
        return {} if min(index, default=0) < 0 else {"x": index}

    def moved(self, descriptor: Any, inputs: Mapping[str, Any]) -> Array | None:
        """Return the same bit for bit; None if the value is a NaN, of which any payload will do."""
        if "value" in inputs and np.isnan(_stored(descriptor.out.dtype, inputs["value"])):
            return None
        return _padded(descriptor, inputs)

    def is_constant(self, descriptor: Any) -> bool:
        """Say whether no element of x is left."""
        return any(part.stop <= part.start for part in descriptor.seen)


def _padded(descriptor: Pad, inputs: Mapping[str, Any]) -> Array:
    """Return the output, dimension by dimension: the result of padding along the first is x for the next."""
    row, dtype = PAD_OPS[descriptor.op], descriptor.out.dtype
    result = words(inputs["x"])
    value = words(_stored(dtype, inputs["value"])) if row.has_value else None
    for axis, (before, extent) in enumerate(zip(descriptor.before, descriptor.out.shape, strict=True)):
        index = row.index(np.arange(extent) - before, result.shape[axis])
        shape = (*result.shape[:axis], extent, *result.shape[axis + 1 :])
        taken = np.empty(shape, result.dtype)
        inside = np.flatnonzero(index >= 0)
        if value is not None:
            taken[...] = value
        along: tuple[Any, ...] = (slice(None),) * axis
        taken[(*along, inside)] = result[(*along, index[inside])]
        result = taken
    return np.asarray(result.view(array_dtype(dtype)))


def _stored(dtype: str, number: Any) -> Array:
    """Return a launch's number as an element."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(compute_number(dtype, number)).astype(array_dtype(dtype))


def _named(op: str) -> str:
    return f"pad/{op}"


def _shape(row: PadOp, x: TensorSpec, before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    shape = tuple(map(sum, zip(before, x.shape, after, strict=True)))
    for axis, extent in enumerate(shape):
        if extent < 0:
            message = (
                f"{_named(row.name)}: before {before[axis]} and after {after[axis]} leave {extent} of the extent {x.shape[axis]} "
                f"in dimension {axis}, needs at least 0; crop less"
            )
            raise ValueError(message)
    return shape


def _counts(row: PadOp, x: TensorSpec, before: Any, after: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the checked counts of both sides."""
    sides = []
    for name, given in (("before", before), ("after", after)):
        counts = one_a_dimension(_named(row.name), name, given, x, _COUNT_BITS)
        for axis, count in enumerate(counts):
            most = row.most(x.shape[axis])
            if count and most is not None and count > most:
                message = (
                    f"{_named(row.name)}: {name} is {count} in dimension {axis} of extent {x.shape[axis]}, needs at most "
                    f"{max(most, 0)}, {row.limit}; pad less"
                )
                raise ValueError(message)
            if row.least is not None and count < row.least:
                message = f"{_named(row.name)}: {name} is {count} in dimension {axis}, needs at least {row.least}; only constant crops"
                raise ValueError(message)
        sides.append(counts)
    return sides[0], sides[1]
