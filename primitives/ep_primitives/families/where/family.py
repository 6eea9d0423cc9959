"""The cells of Where, its reference, and data that shows which side's element was taken."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import ep
from ep import Descriptor, Scalar, TensorSpec
from ep_primitives.cases import data
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.elementwise.cells import ElementwiseFamily
from ep_primitives.elementwise.domain import REAL, Domain
from ep_primitives.elementwise.op import EVERY
from ep_primitives.elementwise.situations.models import elementwise_model
from ep_primitives.families.where.descriptor import CONDITIONS, Where
from ep_primitives.judging.origin import broadcast_origin
from ep_primitives.judging.reference import Array, Reference, array_dtype, compute_number, widened

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep_primitives.judging.origin import Index
    from ep_primitives.situations.model import Model

__all__ = ["WhereFamily"]

_MANY: Final = 257


class WhereFamily(ElementwiseFamily):
    """Each element type with each type of condition in each layout."""

    name: ClassVar[str] = "where"
    descriptor: ClassVar[type[Descriptor]] = Where
    tensors: ClassVar[int] = 3
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

    def signatures(self) -> Iterator[Signature]:
        """Yield every pair of a condition's type and an element type."""
        return (Signature("-", (condition, dtype), dtype) for condition in CONDITIONS for dtype in EVERY)

    def describe(self, _op: str, specs: Mapping[str, Any], _attributes: tuple[float, ...], /) -> Descriptor:
        """Return the descriptor of a choice between these operands."""
        return Where(**specs)

    def typed(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the name and the element type of every operand."""
        condition, dtype = signature.inputs
        return (("condition", condition), ("a", dtype), ("b", dtype), ("out", dtype))

    def may_share(self, signature: Signature, place: int) -> bool:
        """Say whether the output may have the memory of the input at a place."""
        return place > 0 or set(signature.inputs) == {"bool"}

    def domains(self, signature: Signature) -> tuple[Domain, ...]:  # noqa: ARG002 - the interface is ElementwiseFamily's
        """Return that the condition, a and b may be anything."""
        return (REAL,) * 3

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the chosen values."""
        dtype = descriptor.out.dtype
        a, b = (widened(dtype, inputs[name]) for name in ("a", "b"))
        value = np.where(_truth(inputs["condition"]), a, b)
        return Reference(np.broadcast_to(value, descriptor.out.shape))

    def moved(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Array | None:
        """Return the chosen elements, bit for bit; None if a number is NaN, whose payload is open."""
        dtype, shape = array_dtype(descriptor.out.dtype), descriptor.out.shape
        sides = []
        for name in ("a", "b"):
            value = inputs[name]
            if not isinstance(value, np.ndarray):
                if value != value:  # noqa: PLR0124 - NaN
                    return None
                value = np.asarray(compute_number(descriptor.out.dtype, value)).astype(dtype)
            sides.append(np.broadcast_to(value, shape))
        words = [side.view(np.uint8) if dtype == np.bool_ else side for side in sides]
        chosen = np.array(words[1])
        np.copyto(chosen, words[0], where=_truth(inputs["condition"]))
        return chosen.view(dtype)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the element of the condition, and the element of the side that it chooses."""
        del output
        met = broadcast_origin(descriptor, at)
        chosen = "a" if _truth(inputs["condition"][met["condition"]]) else "b"
        return {name: index for name, index in met.items() if name in {"condition", chosen}}

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout; only conditions that are bools may lie where a bool output does."""
        return elementwise_model(layout, self.names, shares=("a", "b"))

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield values and arrangements; with conditions that are no bools values are of profile standard."""
        is_chief = signature.inputs[0] == "bool"
        for case in super().cases_of(signature, layout):
            if case.situation:
                yield case
            elif case.inplace == "condition":  # which only bools can be, so that no situation of all types has it
                yield case.early()
            else:
                yield case if is_chief else case.late()
        if layout == "scalar-left" and is_chief:
            for name, number in data.numbers(signature.out).items():
                yield self._between(signature, name, number)

    def kernel(self, signature: Signature) -> Hashable:
        """Return whether elements are bytes, of 2 or 4 bytes, or wider; conditions of any type meet them in turn."""
        return min(ep.dtype(signature.out).itemsize.bit_length() // 2, 2)

    def leans(self, signature: Signature, name: str) -> bool:  # noqa: ARG002 - the interface is ElementwiseFamily's
        """Say that conditions, half of which are false, stay as they are."""
        return name != "condition"

    def value_cases(self, signature: Signature) -> Iterator[Case]:
        """Yield every kind of condition, every element that is worth it on both sides, and NaNs of many payloads."""
        condition, dtype = signature.inputs
        tried = _conditions(condition)
        is_byte = ep.dtype(dtype).itemsize == 1
        values = data.exhaustive(dtype) if is_byte else data.designed(dtype)
        sides = (np.resize(values, tried.size), np.resize(np.roll(values, 1), tried.size))
        yield self._listed("conditions", signature, tried, *sides)
        truth = np.resize(tried[tried != 0], values.size)
        both = np.concatenate([truth, np.zeros_like(truth)])
        yield self._listed("values", signature, both, np.tile(values, 2), np.tile(np.roll(values, 1), 2))
        if (nans := _payloads(dtype)).size:
            others, truth = np.resize(values, nans.size), np.resize(truth, 2 * nans.size)
            a, b = (np.tile(np.concatenate(pair), 2) for pair in ((nans, others), (others, nans)))
            yield self._listed("nan-payloads", signature, np.concatenate([truth, np.zeros_like(truth)]), a, b)

    def scalar(self, signature: Signature, side: int, rng: np.random.Generator) -> Any:
        """Return a number: for the condition true or false, for a and b two that differ."""
        if side == 0:
            return rng.choice(_conditions(signature.inputs[0]))
        kind = ep.dtype(signature.out).kind
        if kind == "b":
            return side == 1
        number = data.ordinary(rng, signature.out)
        return number if kind in "fc" else 2 * (int(number.real) // 2) + side - 1

    def _between(self, signature: Signature, name: str, number: Any) -> Case:
        """Return a case whose a and b are both numbers."""
        condition, dtype = signature.inputs
        scalar, size = Scalar(dtype), (_MANY,)
        descriptor = Where(condition=TensorSpec(condition, size), a=scalar, b=scalar, out=TensorSpec(dtype, size))

        def draw(rng: np.random.Generator) -> dict[str, Any]:
            truth = _random_conditions(rng, condition, size)
            return {"condition": truth, "a": number, "b": self.scalar(signature, 1 if number is False else 2, rng)}

        return Case(f"value-{name}", descriptor, draw, fill="designed")

    def _telling(
        self, descriptor: Descriptor, side: int, rng: np.random.Generator, values: Array, first: Array | None
    ) -> Array:
        del first
        return values if side else _random_conditions(rng, descriptor.specs[0].dtype, values.shape)


def _truth(condition: Array) -> Array:
    return np.asarray((condition.view(np.uint8) if condition.dtype == np.bool_ else condition) != 0)


@cache
def _conditions(dtype: str) -> Array:
    """Return conditions of which about half are false: every true byte, or every integer of one bit and the designed ones."""
    if dtype == "bool":
        true = data.exhaustive(dtype)[1:]
    else:
        bits = 8 * ep.dtype(dtype).itemsize
        single = (np.uint64(1) << np.arange(bits, dtype=np.uint64)).astype(f"u{bits // 8}").view(dtype)
        designed = data.designed(dtype)
        true = np.concatenate([single, ~(single - 1), designed[designed != 0]])
    both = np.zeros(2 * true.size, true.dtype)
    both[::2] = true
    both.flags.writeable = False
    return both


def _random_conditions(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Return conditions of which half are false, the others any that are true."""
    every = _conditions(dtype)
    size = int(np.prod(shape))
    truth = rng.choice(every[every != 0], size)
    falses = rng.permutation(np.arange(size)) % 2 == rng.integers(2)
    return np.where(falses, np.zeros_like(truth), truth).reshape(shape)


def _payloads(dtype: str) -> Array:
    """Return NaNs of both signs, quiet and signalling, of every single bit of the payload; none of types of one byte."""
    row = ep.dtype(dtype)
    if row.kind not in "fc" or row.itemsize == 1:
        return np.empty(0, array_dtype(dtype))
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    bits = 8 * ep.dtype(part).itemsize
    word = np.dtype(f"u{bits // 8}")
    infinity = np.array([np.inf], array_dtype(part)).view(word)
    payload = (np.uint64(1) << np.arange(ep.dtype(part).fraction, dtype=np.uint64)).astype(word)
    nans = np.concatenate([infinity | payload, infinity | payload | word.type(1 << (bits - 1))])
    if row.kind == "c":
        nans = np.stack([nans, np.roll(nans, 1)], axis=-1).reshape(-1)
    return nans.view(array_dtype(dtype))
