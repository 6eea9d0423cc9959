"""Family BroadcastBinary: out = op(a, b), one element at a time; the rows are in rows.py.

shapes       : a and b broadcast to out; any strides; one of them may be a Scalar, a number given at launch
dtypes       : the row's; a and b have the same; a comparison's output is bool, every other's has the dtype of a and b
accumulation : none; float16 and bfloat16 are computed in float32 and rounded once
integers     : wrap modulo 2^n; a zero divisor and MIN / -1 have the values of the row's definition
complex      : arithmetic, equality and the gradients of holomorphic functions, dy conj(f'(x)); infinities and NaN are
               specified for exact rows and tests only
NaN          : as the row's special values say; a NaN result may have any sign and payload
infinities   : as the row's special values say; of complex numbers in exact rows and tests only
signed zero  : as the row's special values say; elsewhere exact rows keep it and others leave it free
empty        : an output without elements is legal and nothing is launched
determinism  : an element's result depends on its two values alone, not on its place, its neighbours or the number of
               threads (a NaN stays a NaN, with any sign and payload); equal launches give equal bits
in place     : out may be a or b, the same memory, offset, shape, strides and itemsize
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
from ep.ground.glimpse import glimpse

from ep import Descriptor, Role, Roles, Scalar, TensorSpec
from ep_primitives.descriptors.validation import (
    attribute_values,
    broadcast_shape,
    check_dtype,
    check_input,
    check_output,
    chosen_output,
    chosen_row,
    described_operand,
)
from ep_primitives.elementwise.family import RowFamily
from ep_primitives.elementwise.hard_pairs import (
    HARD_PAIRS,
    LOGICAL,
    SELECTIONS,
    SHIFTS,
    count,
    counts,
    selected,
    switches,
)
from ep_primitives.families.broadcast_binary.rows import BINARY_OPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep_primitives.cases.case import Case
    from ep_primitives.cases.signature import Signature
    from ep_primitives.elementwise.op import Op
    from ep_primitives.judging.reference import Array

__all__ = ["BroadcastBinary", "BroadcastBinaryFamily"]

_BASE_GRADIENT: Final = "scalar_base_power_grad"


class BroadcastBinary(Descriptor):
    """out = op(a, b) for each element; a and b are broadcast to the shape of out.

    op   : name of a row of `rows`
    a, b : broadcast to out.shape, one dtype of the row; read; one of them may be a Scalar, whose number the launch
           rounds to the compute type: complex for a complex one, any integer exactly for a 64-bit one. Where out is bool it
           rounds to the dtype itself, as NumPy and PyTorch do: beside float16 a 0.1 equals the element 0.1. So it does in
           `nextafter`
    out  : the dtype of a and b, or bool for a comparison; written; may be the same memory as a or b

    In `*_backward_with_dy_x` and `..._dy_y` a is the gradient dy, and b the x that the forward op got or the y that it
    gave. In `atan2` a is y and b is x. In `scalar_*_power_grad` a is x and b is dy, in `zeta` a is x and b is q. Attributes of the row are keywords.
    Raises TypeError or ValueError for anything the row does not have.
    """

    __slots__ = ()

    family: ClassVar[str] = "broadcast_binary"
    roles: ClassVar[Roles] = Roles(
        Role.input("a", shares=("out",)), Role.input("b", shares=("out",)), Role.output("out")
    )

    def __init__(
        self, op: str, *, a: TensorSpec | Scalar, b: TensorSpec | Scalar, out: TensorSpec, **attributes: float
    ) -> None:
        row = chosen_row(self.family, op, BINARY_OPS)
        check_output(op, out)
        if type(a) is not TensorSpec or type(b) is not TensorSpec:
            _check_operands(op, a, b)
        if type(a) is not Scalar:
            check_input(op, "a", a, out)
        if type(b) is not Scalar:
            check_input(op, "b", b, out)
        check_dtype(op, "a", a, row.dtypes)
        check_dtype(op, "b", b, (a.dtype,))
        check_dtype(op, "out", out, (row.out_dtype(a.dtype),))
        self._freeze(op, (a, b, out), attribute_values(row, attributes, a.dtype))

    @classmethod
    def infer(cls, op: str, a: Any, b: Any, *, out: Any = None, **attributes: float) -> Self:
        """Return the descriptor.

        a, b : a TensorSpec or an array each; one of them may be a Scalar
        out  : a TensorSpec or an array; None: dense, of the shape that a and b broadcast to
        """
        row = chosen_row(cls.family, op, BINARY_OPS)
        a, b = described_operand(op, "a", a), described_operand(op, "b", b)
        shape = a.shape if a.shape == b.shape else broadcast_shape(op, {"a": a.shape, "b": b.shape})
        return cls(op, a=a, b=b, out=chosen_output(op, out, row.out_dtype(a.dtype), shape), **attributes)

    @property
    def compares_elements(self) -> bool:
        """True of comparisons, tests and neighbours: a number beside tensors of 16 bits is rounded as they are first."""
        row = BINARY_OPS[self.op]
        return row.out == "bool" or row.typed


class BroadcastBinaryFamily(RowFamily):
    """The cells of BroadcastBinary: each row with each of its dtypes in each layout."""

    name: ClassVar[str] = "broadcast_binary"
    descriptor: ClassVar[type[Descriptor]] = BroadcastBinary
    rows: ClassVar[Mapping[str, Op]] = BINARY_OPS
    tensors: ClassVar[int] = 2
    layouts: ClassVar[tuple[str, ...]] = (
        "dense",
        "strided",
        "broadcast",
        "scalar-left",
        "scalar-right",
        "inplace",
        "offset",
        "empty",
        "rank0",
    )
    convicting = frozenset({"add/float64/strided/padded-rows"})

    def value_cases(self, signature: Signature) -> Iterator[Case]:
        """Yield the cases of any row, and the pairs that are hard for the op."""
        yield from super().value_cases(signature)
        pairs = HARD_PAIRS.get(signature.op)
        if pairs is None:
            return
        for attributes in self.attribute_samples(signature):
            suffix = "".join(f"-{value:.3g}" for value in attributes)
            yield self._listed(
                f"hard-pairs{suffix}", signature, *pairs(signature.inputs[0], *attributes), attributes=attributes
            )

    def is_constant(self, descriptor: Descriptor) -> bool:
        """Return True if the output is one value for any tensors, as the gradient of x^0 is."""
        return (descriptor.op == _BASE_GRADIENT and descriptor.attributes == (0.0,)) or super().is_constant(descriptor)

    def _telling(
        self, descriptor: Descriptor, side: int, rng: np.random.Generator, values: Array, first: Array | None
    ) -> Array:
        dtype, op = descriptor.specs[0].dtype, descriptor.op
        if op in SHIFTS and side:
            return counts(rng, values)
        if op in LOGICAL and dtype != "bool":
            return switches(rng, values, first)
        paired = super()._telling(descriptor, side, rng, values, first)
        if (
            first is not None and values.size < first.size and dtype != "bool"
        ):  # or all would be beside one element, perhaps an extreme
            paired = np.where(np.arange(values.size).reshape(values.shape) % 2, paired, values)
        if side and op in SELECTIONS:
            return selected(rng, self.rows[op], dtype, paired, descriptor.attributes)
        return paired

    def scalar(self, signature: Signature, side: int, rng: np.random.Generator) -> Any:
        """Return a number in the row's domain; as a count of bits one that leaves some of every element."""
        return (
            count(rng, signature.inputs[side])
            if side and signature.op in SHIFTS
            else super().scalar(signature, side, rng)
        )

    def attribute_samples(self, signature: Signature) -> Iterator[tuple[float, ...]]:
        """Yield the values of the row's attributes that cases try, () for a row without."""
        attributes = self.rows[signature.op].attributes
        for number in range(max((len(attribute.samples) for attribute in attributes), default=1)):
            yield tuple(attribute.samples[number] for attribute in attributes)


def _check_operands(op: str, a: Any, b: Any) -> None:
    for name, spec in (("a", a), ("b", b)):
        if type(spec) not in {TensorSpec, Scalar}:
            message = (
                f"{op}: {name} is {glimpse(spec)}, neither a TensorSpec nor a Scalar; describe an array with "
                "TensorSpec.of(array), a number that the launch gives with Scalar(dtype)"
            )
            raise TypeError(message)
    if type(a) is type(b) is Scalar:
        message = f"{op}: a and b are both Scalars; at least one operand must be a TensorSpec"
        raise ValueError(message)
