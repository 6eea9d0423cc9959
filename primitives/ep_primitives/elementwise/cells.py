"""Base of the elementwise families: cells from signatures and layouts, and cases from arrangements."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import ep
from ep import Cell, Descriptor, Scalar, TensorSpec
from ep_primitives.cases import data
from ep_primitives.cases.arrangement import Arrangement, Form, arrangements, dense
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.elementwise import pairing
from ep_primitives.elementwise.domain import REAL, Domain
from ep_primitives.elementwise.situations.arranged import arranged
from ep_primitives.elementwise.situations.models import BETWEEN, elementwise_model
from ep_primitives.judging.layout import settled
from ep_primitives.judging.origin import broadcast_origin
from ep_primitives.judging.reference import array_dtype
from ep_primitives.situations.family import SituatedFamily
from ep_primitives.situations.values import leaning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Array
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["ElementwiseFamily"]


_FIRST: Final = {"float32"}
"""Dense cases by hand of this type stay quick: a vendor's first kernel meets names that tell a size, not a situation."""


class ElementwiseFamily(SituatedFamily):
    """A family whose output elements each depend on one element of every input."""

    tensors: ClassVar[int]
    """How many inputs may be tensors."""

    @abstractmethod
    def describe(self, op: str, specs: Mapping[str, Any], attributes: tuple[float, ...], /) -> Descriptor:
        """Return the descriptor of an op with these operands and attributes."""

    def value_cases(self, signature: Signature) -> Iterator[Case]:
        """Yield the dense cases that are about values, not about layout."""
        yield self._listed("designed", signature, data.listed(signature.inputs[0]))
        bits = 8 * ep.dtype(signature.inputs[0]).itemsize
        if bits <= data.EXHAUSTIBLE_BITS:
            yield self._listed(f"exhaustive-{bits}bit", signature, data.exhaustive(signature.inputs[0]))

    def origin(
        self, descriptor: Descriptor, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the element of each input that meets it."""
        del inputs, output
        return broadcast_origin(descriptor, at)

    def is_reproducible(self, descriptor: Descriptor) -> bool:  # noqa: ARG002 - the interface is ep.Family's
        """Say yes: an element is one formula of the elements at its place."""
        return True

    def domains(self, signature: Signature) -> tuple[Domain, ...]:
        """Return where the random data of each input lies."""
        return (REAL,) * len(signature.inputs)

    def samples(self, _signature: Signature) -> tuple[float, ...]:
        """Return the attributes that cases about layout are tried with."""
        return ()

    def typed(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the name and the element type of every operand, the output last."""
        return tuple(zip(self.descriptor.roles.names, (*signature.inputs, signature.out), strict=True))

    def may_share(self, signature: Signature, place: int) -> bool:
        """Say whether the output may have the memory of the input at a place: elements of one size."""
        return ep.dtype(signature.inputs[place]).itemsize == ep.dtype(signature.out).itemsize

    def has(self, signature: Signature, layout: str) -> bool:
        """Say whether its element types allow the layout."""
        return any(self._fitting(signature, layout))

    def sample(self, cell: Cell) -> Descriptor:
        """Return a small descriptor of the cell, to ask `accepts` with."""
        signature = self.signature(cell)
        return self._arranged(signature, next(self._fitting(signature, cell.layout)), self.samples(signature))

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield in layout dense first the cases about values, then the constructed ones, then one an arrangement by hand."""
        if layout == "dense":
            yield from self.value_cases(signature)
        yield from self.constructed(signature, layout)
        for number, arrangement in enumerate(self._fitting(signature, layout)):
            case = self._arranged_case(signature, arrangement, zlib.crc32(layout.encode()) + number)
            yield case if layout == "dense" and set(signature.inputs) == _FIRST else case.late()

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return elementwise_model(layout, self.names, self.names if "inplace" in self.layouts else ())

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation, with the usual data but for the values that it asks for."""
        arrangement = arranged(layout, self.names, row, seed)
        case = self._arranged_case(signature, arrangement, zlib.crc32(row.text.encode()) + seed)
        words = {name: word for name in self.names if (word := row.situation.get(f"values-{name}", "usual")) != "usual"}
        return replace(case, data=partial(self._leaning, signature, words, case)) if words else case

    def lacks(self, signature: Signature, layout: str) -> Mapping[str, Sequence[str]]:
        """Return that elements of other sizes do not lie between an input's in one memory."""
        places = {name: place for place, (name, _) in enumerate(self.typed(signature)[:-1])}
        apart = [name for name in self.names if not self.may_share(signature, places[name])]
        return {"out": [f"{BETWEEN}-{name}" for name in apart]} if layout == "offset" else {}

    def leans(self, signature: Signature, name: str) -> bool:  # noqa: ARG002 - for families whose inputs have meanings
        """Say whether an input may have any values of its domain."""
        return True

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the operands with their element types."""
        return self.typed(signature)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The inputs that may be tensors."""
        return tuple(name for name, _ in self.typed(next(iter(self.signatures())))[-1 - self.tensors : -1])

    def _leaning(
        self, signature: Signature, words: Mapping[str, str], case: Case, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Return the usual data, a third of each operand's elements in place of it values of a class."""
        inputs = {**case.data(rng)}
        domains = dict(zip(case.descriptor.operands, self.domains(signature), strict=False))
        for name, word in words.items():
            spec, drawn = case.descriptor.present[name], inputs[name]
            if isinstance(spec, TensorSpec) and self.leans(signature, name):
                inputs[name] = settled(spec, leaning(rng, word, spec.dtype, drawn, domains.get(name, REAL)))
        return inputs

    def _fitting(self, signature: Signature, layout: str) -> Iterator[Arrangement]:
        for arrangement in arrangements(layout, self.names):
            if arrangement.inplace is not None and not self.may_share(signature, arrangement.inplace):
                continue
            if arrangement.is_bytes and self._widest(signature) > 1:
                continue
            yield arrangement

    def _widest(self, signature: Signature) -> int:
        """Return the largest itemsize of its operands."""
        return max(ep.dtype(dtype).itemsize for _, dtype in self.typed(signature))

    def attribute_sets(self, signature: Signature) -> list[tuple[float, ...]]:
        """Return the attributes of a signature's cases, the usual ones first."""
        return [self.samples(signature)]

    def tried(self, signature: Signature, arrangement: Arrangement, number: int) -> tuple[float, ...]:  # noqa: ARG002 - as above
        """Return the attributes of the case about an arrangement; its number differs from that of its neighbours."""
        return self.samples(signature)

    def _arranged(self, signature: Signature, arrangement: Arrangement, attributes: tuple[float, ...]) -> Descriptor:
        specs = {
            name: Scalar(dtype) if form is None else _spec(dtype, form)
            for (name, dtype), form in zip(self.typed(signature), self._forms(arrangement), strict=True)
        }
        return self.describe(signature.op, specs, attributes)

    def _forms(self, arrangement: Arrangement) -> tuple[Form | None, ...]:
        return arrangement.forms

    def _arranged_case(self, signature: Signature, arrangement: Arrangement, number: int) -> Case:
        @cache
        def describe() -> Descriptor:
            return self._arranged(signature, arrangement, self.tried(signature, arrangement, number))

        shared, shift = arrangement.inplace, arrangement.shift
        return Case(
            arrangement.name,
            describe,
            lambda rng: self._random(signature, describe(), rng),
            inplace=None if shared is None else self.typed(signature)[shared][0],
            profile=arrangement.profile,
            shift=shift * max(ep.dtype(spec.dtype).itemsize for spec in describe().specs) if shift else 0,
        )

    def _listed(
        self, name: str, signature: Signature, *values: Any, attributes: tuple[float, ...] | None = None
    ) -> Case:
        """Return a dense case over given inputs, arrays of one dimension and equal length."""
        return self._late(name, signature, lambda: (values, attributes))

    def _late(
        self, name: str, signature: Signature, make: Callable[[], tuple[Sequence[Array], tuple[float, ...] | None]]
    ) -> Case:
        """Return a dense case over inputs that are made when the case is looked into.

        make : gives the inputs, and the attributes, None for the usual ones
        """
        made = cache(make)

        def describe() -> Descriptor:
            values, attributes = made()
            chosen = self.samples(signature) if attributes is None else attributes
            arrangement = dense(name, values[0].shape, self.tensors)
            forms = zip(self.typed(signature), arrangement.forms, strict=True)
            specs = {operand: _spec(dtype, form) for (operand, dtype), form in forms if form is not None}
            return self.describe(signature.op, specs, chosen)

        def inputs(_rng: np.random.Generator) -> dict[str, Any]:
            return {name: array for (name, _), array in zip(self.typed(signature), made()[0], strict=False)}

        return Case(name, describe, inputs, fill="designed")

    def truth(self, _signature: Signature, _values: Array) -> Array | None:
        """Return which input values a test finds true, None if the op is not a test of one input."""
        return None

    def scalar(self, signature: Signature, side: int, rng: np.random.Generator) -> Any:
        """Return a number for the Scalar at a place among the operands, such that the output is not constant."""
        return data.ordinary(rng, signature.inputs[side], self.domains(signature)[side])

    def _random(self, signature: Signature, descriptor: Descriptor, rng: np.random.Generator) -> dict[str, Any]:
        domains = self.domains(signature)
        inputs: dict[str, Any] = {}
        first = None
        # Single numbers come first, so that the elements they meet can be paired with them.
        sides = sorted(range(len(domains)), key=lambda side: _is_single(descriptor, side), reverse=True)
        for side in sides:
            spec, name = descriptor.specs[side], descriptor.operands[side]
            if _is_single(descriptor, side):
                number = self.scalar(signature, side, rng)
                first = np.full(spec.shape, number, array_dtype(spec.dtype))
                inputs[name] = first if isinstance(spec, TensorSpec) else number
                continue
            assert isinstance(spec, TensorSpec)
            distinct = tuple(extent if stride else 1 for extent, stride in zip(spec.shape, spec.strides, strict=True))
            values = data.random(rng, spec.dtype, distinct if spec.size else spec.shape, domains[side])
            values = self._telling(descriptor, side, rng, values, first)
            first = inputs[name] = settled(spec, np.broadcast_to(values, spec.shape))
        return inputs

    def _telling(
        self, descriptor: Descriptor, side: int, rng: np.random.Generator, values: Array, first: Array | None
    ) -> Array:
        """Return the random values of one input with shares of them replaced by such as a fault shows on.

        first : the operand that was drawn before, if there is one
        """
        del side  # families whose operands have roles look at it
        signature = Signature(descriptor.op, tuple(spec.dtype for spec in descriptor.specs[:-1]), descriptor.out.dtype)
        if first is not None and self.domains(signature) == (REAL, REAL):
            values = pairing.partner(rng, first, values)
        candidates = data.designed(signature.inputs[0])
        truth = self.truth(signature, candidates)
        return values if truth is None else pairing.balanced(rng, values, (candidates[~truth], candidates[truth]))


@cache
def _spec(dtype: str, form: Form) -> TensorSpec:
    """Return the spec of an operand; the same few forms come in every cell."""
    return TensorSpec(dtype, *form)


def _is_single(descriptor: Descriptor, side: int) -> bool:
    """Say whether an operand is one number for many elements, beside an operand that is not."""
    spec = descriptor.specs[side]
    if isinstance(spec, Scalar):
        return True
    return spec.size == 1 < descriptor.out.size and len(descriptor.specs) > 2  # noqa: PLR2004 - two inputs
