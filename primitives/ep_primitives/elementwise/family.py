"""The elementwise families whose ops are rows: unary and binary. All but their tables of rows is derived here."""

from __future__ import annotations

import math
import zlib
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from ep.dtypes import convert_element

import ep
from ep import Cell, Descriptor, Scalar, TensorSpec
from ep_primitives.cases import data
from ep_primitives.cases.arrangement import Arrangement, Form
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.attribute import candidates
from ep_primitives.descriptors.window import windowed
from ep_primitives.elementwise.cells import ElementwiseFamily
from ep_primitives.judging import tables
from ep_primitives.judging.accuracy import LISTED, Accuracy, Exact
from ep_primitives.judging.reference import Array, Reference, array_dtype, limits, widened

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep_primitives.elementwise.domain import Domain
    from ep_primitives.elementwise.op import Op

__all__ = ["RowFamily"]

# Enough elements that every lane of a wide vector, and a tail, sees every value.
_COPIES: Final = 64
_MANY: Final = 513
_FEW: Final = 9
_TRUTHS: Final = 2
_COMPLEX_NUMBERS: Final = (0j, 1j, 1 + 0j, -2 + 0.5j)
_FEW_LANES: Final = 64
_CHIEF: Final = ("int32", "bfloat16", "float32")
"""The element types that profile quick tries single numbers with."""
_DRAWN: Final = 12
"""How many sets of attributes the cases of a signature share."""
_CLEAR: Final = 64
_LOST: Final = 256
_HALF: Final = 0.5
"""The error in ulps of a table's correctly rounded values."""


class RowFamily(ElementwiseFamily):
    """An elementwise family whose signatures, references, accuracies and special values come from rows."""

    rows: ClassVar[Mapping[str, Op]]

    def signatures(self) -> Iterator[Signature]:
        """Yield every row with each of its element types."""
        for row in self.rows.values():
            for dtype in row.dtypes:
                yield Signature(row.name, (dtype,) * self.tensors, row.out_dtype(dtype))

    def kernel(self, signature: Signature) -> Hashable:
        """Return the size of the inputs' elements, by which kernels choose their vectors."""
        return ep.dtype(signature.inputs[0]).itemsize

    def describe(self, op: str, specs: Mapping[str, Any], attributes: tuple[float, ...], /) -> Descriptor:
        """Return the descriptor of a row with these operands."""
        names = (attribute.name for attribute in self.rows[op].attributes)
        make: Any = self.descriptor
        descriptor: Descriptor = make(op, **specs, **dict(zip(names, attributes, strict=True)))
        return descriptor

    def domains(self, signature: Signature) -> tuple[Domain, ...]:
        """Return the domains of the row."""
        return self.rows[signature.op].domain_of(signature.inputs[0])

    def samples(self, signature: Signature) -> tuple[float, ...]:
        """Return the usual value of every attribute of the row."""
        return tuple(attribute.samples[0] for attribute in self.rows[signature.op].attributes)

    def tried(self, signature: Signature, arrangement: Arrangement, number: int) -> tuple[float, ...]:
        """Return attributes from all over the row's domain of them, extremes included: others for the next number."""
        sets = self.attribute_sets(signature, tuple(map(_is_one, arrangement.forms)))
        return sets[number % len(sets)]

    def attribute_sets(self, signature: Signature, singles: tuple[bool, ...] = ()) -> list[tuple[float, ...]]:
        """Return the attributes of a signature's cases: the usual ones, then extremes and random ones.

        singles : which operands are one number for many elements

        Attributes that leave random data nothing to tell by, as a threshold beyond all of it does, are not among them.
        """
        found = self._sets.get((signature, singles))
        if found is None:
            found = self._sets[signature, singles] = [self.samples(signature)]
            row, dtype = self.rows[signature.op], signature.inputs[0]
            rng = np.random.default_rng(zlib.crc32(f"{row.name} {dtype} {singles}".encode()))
            for attributes in candidates(row, rng, dtype) if row.attributes else ():
                is_new = len(found) <= _DRAWN and attributes not in found
                if is_new and self._tells(signature, singles, attributes, rng):
                    found.append(attributes)
        return found

    @cached_property
    def _sets(self) -> dict[tuple[Signature, tuple[bool, ...]], list[tuple[float, ...]]]:
        return {}

    def _tells(
        self, signature: Signature, singles: tuple[bool, ...], attributes: tuple[float, ...], rng: np.random.Generator
    ) -> bool:
        """Say whether a fault would show in a few random elements with these attributes, twice."""
        places = singles or (False,) * (len(signature.inputs) + 1)
        form = Arrangement("few", tuple(Form((1,) if single else (_FEW_LANES,)) for single in places))
        descriptor = self._arranged(signature, form, attributes)
        drawn = (self.reference(descriptor, self._random(signature, descriptor, rng)) for _ in range(2))
        return all(_is_telling_share(reference, signature.out) for reference in drawn)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:
        """Return the accuracy that the row promises for the element type."""
        return self.rows[descriptor.op].accuracy_of(descriptor.specs[0].dtype)

    def parts(self, descriptor: Descriptor) -> Iterator[Descriptor]:
        """Yield a vector less its first element: every other one then has another place, in a vector register, too.

        Of an exact row the reference says all bits already.
        """
        out = descriptor.out
        if out.ndim != 1 or out.size <= 1 or isinstance(self.accuracy(descriptor), Exact):
            return
        window = ((1, out.size - 1),)
        specs = {
            name: spec if isinstance(spec, Scalar) else windowed(spec, window)
            for name, spec in zip(descriptor.operands, descriptor.specs, strict=True)
        }
        yield self.describe(descriptor.op, specs, descriptor.attributes)

    def is_constant(self, descriptor: Descriptor) -> bool:
        """Say whether the output is one value: for all contents of the tensors, or of the one element that it depends on."""
        row = self.rows[descriptor.op]
        inputs = [spec for place, spec in enumerate(descriptor.specs[:-1]) if place not in row.unused]
        return (
            inputs[0].dtype in row.constant
            or all(isinstance(spec, Scalar) for spec in inputs)
            or (bool(row.unused) and all(isinstance(spec, TensorSpec) and spec.size == 1 for spec in inputs))
        )

    def since(self, cell: Cell) -> str:
        """Return the suite version that first held the row."""
        return self.rows[cell.op].since

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the row's reference of the inputs exactly as stored, and of the attributes in the compute type."""
        row = self.rows[descriptor.op]
        dtype = descriptor.specs[0].dtype
        given = [inputs[name] for name in descriptor.roles.read]
        if descriptor.compares_elements:
            given = [each if isinstance(each, np.ndarray) else convert_element(dtype, each) for each in given]
        arrays = [row.taken(dtype, each) for each in given]
        attributes = row.held(dtype, descriptor.attributes)
        with np.errstate(all="ignore"):
            result = row.reference(*arrays, *attributes)
        value, scale = result if isinstance(result, tuple) else (result, None)
        shape = descriptor.out.shape
        return Reference(
            np.broadcast_to(value, shape),
            None if scale is None else np.broadcast_to(scale, shape),
            row.error_of(dtype),
        )

    def value_cases(self, signature: Signature) -> Iterator[Case]:
        """Yield special values, designed values, all inputs where they are few, and the table."""
        row = self.rows[signature.op]
        dtype = signature.inputs[0]
        domains = self.domains(signature)
        for number in range(max((len(attribute.samples) for attribute in row.attributes), default=1)):
            attributes = tuple(attribute.samples[number] for attribute in row.attributes)
            suffix = "".join(f"-{a.name}-{v:.3g}" for a, v in zip(row.attributes, attributes, strict=True))
            if row.special and ep.dtype(dtype).kind == row.special_kind:
                yield self._special(f"special-values{suffix}", signature, attributes)
            yield self._late(f"designed{suffix}", signature, partial(_designed, dtype, domains, attributes))
        bits = 8 * ep.dtype(dtype).itemsize * len(signature.inputs)
        if bits <= data.EXHAUSTIBLE_BITS and dtype != "bool":
            name = f"exhaustive-{8 * ep.dtype(dtype).itemsize}bit"
            yield self._late(name, signature, partial(_exhaustive, dtype, domains))
        if row.name in tables.names(dtype):
            yield self._table(signature)

    def cases(self, cell: Cell) -> Iterator[Case]:
        """Yield the cases of the cell; in the scalar layouts also one a number that is special or an extreme."""
        yield from super().cases(cell)
        if cell.layout in {"scalar-left", "scalar-right"}:
            signature = self.signature(cell)
            for case in self._scalars(signature, ("scalar-left", "scalar-right").index(cell.layout)):
                yield case if signature.inputs[0] in _CHIEF else case.late()

    def truth(self, signature: Signature, values: Array) -> Array | None:
        """Return which inputs a unary test finds true: an exact op with two results at most."""
        row = self.rows[signature.op]
        if len(signature.inputs) > 1 or row.attributes or not isinstance(row.accuracy_of(signature.inputs[0]), Exact):
            return None
        result = row.reference(widened(signature.inputs[0], values))
        distinct = np.unique(result)
        return np.asarray(result == distinct[-1]) if distinct.size <= _TRUTHS else None

    def scalar(self, signature: Signature, side: int, rng: np.random.Generator) -> Any:
        """Return a number in the row's domain; for a logical op one that the other operand shows through."""
        dtype, row = signature.inputs[side], self.rows[signature.op]
        if not _sees_truth_alone(row, dtype):
            return super().scalar(signature, side, rng)
        usual = True if dtype == "bool" else super().scalar(signature, side, rng)
        other = np.array([0, 1], array_dtype(dtype))
        for number in (usual, type(usual)(0)):
            held = np.full(2, number, array_dtype(dtype))
            if np.ptp(np.asarray(row.reference(*((held, other) if side == 0 else (other, held))) != 0).view(np.uint8)):
                return number
        message = f"{signature.op}: does not depend on whether its inputs are true"
        raise ValueError(message)

    def _special(self, name: str, signature: Signature, attributes: tuple[float, ...]) -> Case:
        row = self.rows[signature.op]
        dtype = signature.inputs[0]
        rows = row.special_rows(tuple(float(value) for value in row.held(dtype, attributes)))
        expected = np.array([expected for _, expected in rows])
        size = _COPIES * len(rows) + 1 if _is_telling(expected) else _FEW
        columns = np.array([inputs for inputs, _ in rows]).T.astype(array_dtype(dtype))
        case = self._listed(name, signature, *(np.resize(column, size) for column in columns), attributes=attributes)
        value = np.resize(expected, size)
        wanted = Reference(value != 0 if row.out == "bool" else value)
        return replace(case, expected=lambda: wanted, accuracy=LISTED, fill="exact")

    def _scalars(self, signature: Signature, side: int) -> Iterator[Case]:
        """Yield a case for each number that stands on one side of a special value, or is hard for an integer."""
        dtype = signature.inputs[side]
        others = np.resize(data.designed(dtype, self.domains(signature)[1 - side]), _MANY)
        for number in self._numbers(signature, side):
            yield self._scalar(signature, side, number, others)

    def _numbers(self, signature: Signature, side: int) -> list[Any]:
        dtype = ep.dtype(signature.inputs[side])
        if dtype.kind == "b":
            return [False, True]
        if dtype.kind in "iu":
            low, high = dtype.range
            return [number for number in dict.fromkeys((0, -1, 2**24 + 1, low, high)) if low <= number <= high]
        row = self.rows[signature.op]
        domain = self.domains(signature)[side]
        if dtype.kind == "c":
            return [number for number in _COMPLEX_NUMBERS if domain.contains(dtype.name, np.asarray(number))]
        column = [inputs[side] for inputs, _ in row.special_rows(self.samples(signature))]
        distinct = {repr(number): number for number in column}
        numbers = list(distinct.values())
        inside = [n for n in numbers if n != n or domain.contains(dtype.name, np.asarray(n))]  # noqa: PLR0124 - NaN
        if row.out == "bool" and dtype.compute != dtype.name and not _sees_truth_alone(row, dtype.name):
            # They round to 1, of which less and more than 1 is lost: so they are compared.
            inside += [1 + 0.25 * 2.0**-dtype.fraction, 1 - 0.125 * 2.0**-dtype.fraction]
        return inside

    def _scalar(self, signature: Signature, side: int, number: Any, others: Array) -> Case:
        operands = self.descriptor.roles.names

        @cache
        def chosen() -> tuple[Descriptor, dict[str, Any]]:
            """Return the work over all others, or over a few of them if its result would tell nothing."""
            work = describe(others), {operands[side]: number, operands[1 - side]: others}
            if _is_telling(_clear(self.reference(*work).value, signature.out)):
                return work
            few = others[:_FEW]
            return describe(few), {operands[side]: number, operands[1 - side]: few}

        def describe(tensor: Array) -> Descriptor:
            specs: dict[str, Any] = {
                operands[side]: Scalar(signature.inputs[side]),
                operands[1 - side]: TensorSpec(signature.inputs[1 - side], tensor.shape),
                operands[-1]: TensorSpec(signature.out, tensor.shape),
            }
            return self.describe(signature.op, specs, self.samples(signature))

        text = f"{number:g}" if isinstance(number, float) else str(number).lower().strip("()")
        name = f"scalar-{text}".replace("--", "-minus-")
        return Case(name, lambda: chosen()[0], lambda _rng: chosen()[1], fill="designed")

    def _table(self, signature: Signature) -> Case:
        def make() -> tuple[tuple[Array, ...], tuple[float, ...]]:
            table = tables.load(signature.op, signature.inputs[0])
            return table.inputs, table.attributes

        case = self._late("table", signature, make)
        return replace(case, expected=partial(self._tabled, case))

    def _tabled(self, case: Case) -> Reference:
        """Return the table's values; S, of which a few digits are enough, is the row's."""
        table = tables.load(case.descriptor.op, case.descriptor.specs[0].dtype)
        inputs = dict(zip(case.descriptor.operands, table.inputs, strict=False))
        return Reference(table.value, self.reference(case.descriptor, inputs).scale, _HALF)


def _is_one(form: Form | None) -> bool:
    return form is None or math.prod(form.shape) == 1


def _is_telling_share(reference: Reference, dtype: str) -> bool:
    """Say whether a quarter of a result is neither 0 nor its neighbour nor too small to be told from one that is 2 % larger.

    Nor may it be lost among the terms that it is made of.
    """
    value = reference.value
    if dtype == "bool":
        return value.size / 4 <= int(value.sum()) <= 3 * value.size / 4
    with np.errstate(over="ignore", under="ignore"):
        held = value.astype(array_dtype(dtype)).astype(np.float64)
        least = _CLEAR * float(limits(dtype).smallest_normal)
        is_clear = np.isfinite(held) & (np.abs(held) > least) & (held != np.roll(held, 1))
        if reference.scale is not None:
            is_clear &= reference.scale <= _LOST * np.abs(held)
    return bool(is_clear.sum() >= value.size / 4)


def _clear(value: Array, dtype: str) -> Array:
    """Return a result without the numbers that are too small to be told from one that is 2 % larger."""
    if ep.dtype(dtype).kind != "f":
        return value
    return value[np.abs(value) >= _CLEAR * float(limits(dtype).smallest_subnormal)]


@cache
def _sees_truth_alone(row: Op, dtype: str) -> bool:
    """Say whether a binary op asks of its inputs only whether they are 0."""
    if dtype == "bool":
        return True
    if row.out != "bool" or row.attributes:
        return False
    a, b = _pairs([np.arange(4).astype(array_dtype(dtype))] * 2)
    return bool((row.reference(a, b) == row.reference(a != 0, b != 0)).all())


def _designed(
    dtype: str, domains: tuple[Domain, ...], attributes: tuple[float, ...]
) -> tuple[list[Array], tuple[float, ...]]:
    return _pairs([data.listed(dtype, domain) for domain in domains]), attributes


def _exhaustive(dtype: str, domains: tuple[Domain, ...]) -> tuple[list[Array], None]:
    every = data.exhaustive(dtype)
    return _pairs([every[each.contains(dtype, every)] for each in domains]), None


def _pairs(lists: list[Array]) -> list[Array]:
    """Return every combination of the values of each list, a column a list."""
    return [np.ascontiguousarray(axis).reshape(-1) for axis in np.meshgrid(*lists, indexing="ij")]


def _is_telling(expected: Array) -> bool:
    """Say whether a result that is all zero, moved or scaled would differ; if not, few elements are enough."""
    finite = expected[np.isfinite(expected)]
    return bool(finite.any()) and bool((expected != expected.flat[0]).any())
