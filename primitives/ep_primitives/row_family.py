"""The elementwise families whose ops are rows: unary and binary. All but their tables of rows is derived here."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import ep
from ep import Cell, Descriptor, Scalar, TensorSpec
from ep_primitives import data, tables
from ep_primitives.accuracy import EXACT, Accuracy
from ep_primitives.case import Case
from ep_primitives.elementwise import ElementwiseFamily, Signature
from ep_primitives.reference import Array, Reference, array_dtype, compute_number, widened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ep_primitives.domain import Domain
    from ep_primitives.op import Op, Special

__all__ = ["RowFamily"]

_COPIES: Final = 64
_HALF: Final = 0.5
"""The error in ulps of a table's correctly rounded values."""


class RowFamily(ElementwiseFamily):
    """An elementwise family whose signatures, references, accuracies and special values come from rows."""

    rows: ClassVar[Mapping[str, Op]]

    def signatures(self) -> Iterator[Signature]:
        """Yield every row with each of its element types."""
        inputs = len(self.descriptor.operands) - 1
        for row in self.rows.values():
            for dtype in row.dtypes:
                yield Signature(row.name, (dtype,) * inputs, row.out_dtype(dtype))

    def describe(self, op: str, specs: Mapping[str, Any], attributes: tuple[float, ...], /) -> Descriptor:
        """Return the descriptor of a row with these operands."""
        names = (attribute.name for attribute in self.rows[op].attributes)
        make: Any = self.descriptor
        descriptor: Descriptor = make(op, **specs, **dict(zip(names, attributes, strict=True)))
        return descriptor

    def domains(self, signature: Signature) -> tuple[Domain, ...]:
        """Return the domains of the row."""
        return self.rows[signature.op].domain

    def samples(self, signature: Signature) -> tuple[float, ...]:
        """Return the usual value of every attribute of the row."""
        return tuple(attribute.samples[0] for attribute in self.rows[signature.op].attributes)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:
        """Return what the row promises for the element type."""
        return self.rows[descriptor.op].accuracy_of(descriptor.specs[0].dtype)

    def since(self, cell: Cell) -> str:
        """Return the suite version that first held the row."""
        return self.rows[cell.op].since

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the row's reference of the inputs exactly as stored, and of the attributes in the compute type."""
        row = self.rows[descriptor.op]
        dtype = descriptor.specs[0].dtype
        arrays = [widened(dtype, inputs[name]) for name in descriptor.operands[:-1]]
        attributes = [compute_number(dtype, value) for value in descriptor.attributes]
        with np.errstate(all="ignore"):
            result = row.reference(*arrays, *attributes)
        value, scale = result if isinstance(result, tuple) else (result, None)
        shape = descriptor.out.shape
        return Reference(
            np.broadcast_to(value, shape),
            None if scale is None else np.broadcast_to(scale, shape),
            row.error if descriptor.out.dtype == "float64" else 0.0,
        )

    def value_cases(self, signature: Signature) -> Iterator[Case]:
        """Yield special values, designed values, all 65,536 inputs of a float16, and the table."""
        row = self.rows[signature.op]
        dtype = signature.inputs[0]
        for number in range(max((len(attribute.samples) for attribute in row.attributes), default=1)):
            attributes = tuple(attribute.samples[number] for attribute in row.attributes)
            suffix = "".join(f"-{a.name}-{v:.3g}" for a, v in zip(row.attributes, attributes, strict=True))
            if row.special and ep.dtype(dtype).kind == "f":
                yield self._special(f"special-values{suffix}", signature, attributes)
            lists = [data.designed(dtype, domain) for domain in row.domain]
            grid = np.meshgrid(*lists, indexing="ij")
            values = [np.ascontiguousarray(axis).reshape(-1) for axis in grid]
            yield self._listed(f"designed{suffix}", signature, *values, attributes=attributes)
        if dtype == "float16" and len(signature.inputs) == 1:
            yield self._listed("exhaustive-16bit", signature, data.exhaustive(dtype))
        if dtype == "float64" and row.name in tables.NAMES:
            yield self._table(signature)

    def cases(self, cell: Cell) -> Iterator[Case]:
        """Yield the cases of the cell; in the scalar layouts also one a number that is special or an extreme."""
        yield from super().cases(cell)
        if cell.layout in {"scalar-left", "scalar-right"}:
            yield from self._scalars(self.signature(cell), ("scalar-left", "scalar-right").index(cell.layout))

    def _special(self, name: str, signature: Signature, attributes: tuple[float, ...]) -> Case:
        rows = self._special_rows(signature, attributes)
        columns = [_tiled(column, signature.inputs[0]) for column in zip(*(inputs for inputs, _ in rows), strict=True)]
        case = self._listed(name, signature, *columns, attributes=attributes)
        return self._exactly(case, signature, [expected for _, expected in rows])

    def _scalars(self, signature: Signature, side: int) -> Iterator[Case]:
        """Yield a case for each number that stands on one side of a special value, or for the ends of an integer type."""
        dtype = signature.inputs[0]
        if ep.dtype(dtype).kind != "f":
            low = ep.dtype(dtype).range[0] if dtype != "bool" else 1
            for number in (0, -1, low) if low < 0 else (0, low):
                yield self._scalar(signature, side, number, data.designed(dtype))
            return
        attributes = self.samples(signature)
        chosen: dict[str, list[Special]] = {}
        for row in self._special_rows(signature, attributes):
            chosen.setdefault(repr(row[0][side]), []).append(row)
        for rows in chosen.values():
            others = _tiled([inputs[1 - side] for inputs, _ in rows], dtype)
            case = self._scalar(signature, side, rows[0][0][side], others)
            yield self._exactly(case, signature, [expected for _, expected in rows])

    def _scalar(self, signature: Signature, side: int, number: float, others: Array) -> Case:
        dtype = signature.inputs[0]
        operands = self.descriptor.operands
        specs: dict[str, Any] = {
            operands[side]: Scalar(dtype),
            operands[1 - side]: TensorSpec(dtype, others.shape),
            operands[-1]: TensorSpec(signature.out, others.shape),
        }
        inputs = {operands[side]: bool(number) if dtype == "bool" else number, operands[1 - side]: others}
        name = f"scalar-{number:g}".replace("--", "-minus-")
        return Case(name, self.describe(signature.op, specs, self.samples(signature)), lambda _rng: inputs)

    def _special_rows(self, signature: Signature, attributes: tuple[float, ...]) -> list[Special]:
        held = tuple(float(compute_number(signature.inputs[0], value)) for value in attributes)
        return self.rows[signature.op].special_rows(held)

    def _exactly(self, case: Case, signature: Signature, expected: list[float]) -> Case:
        value = np.resize(np.array(expected), case.descriptor.out.shape)
        wanted = Reference(value != 0 if signature.out == "bool" else value)
        return replace(case, expected=lambda: wanted, accuracy=EXACT)

    def _table(self, signature: Signature) -> Case:
        table = tables.load(signature.op)
        case = self._listed("table", signature, *table.inputs, attributes=table.attributes)
        return replace(case, expected=partial(Reference, table.value, table.scale, _HALF))


def _tiled(values: Iterable[float], dtype: str) -> Array:
    """Return the values again and again, so that every lane of a wide vector, and a tail, sees each of them."""
    column = np.array(list(values)).astype(array_dtype(dtype))
    return np.resize(column, _COPIES * column.size + 1)
