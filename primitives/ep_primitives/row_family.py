"""The elementwise families whose ops are rows: unary and binary. All but their tables of rows is derived here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

import ep
import numpy as np
from ep import Cell, Descriptor

from ep_primitives import data, tables
from ep_primitives.accuracy import Accuracy, Exact
from ep_primitives.case import Case
from ep_primitives.domain import REAL, Domain
from ep_primitives.elementwise import ElementwiseFamily, Signature
from ep_primitives.op import Op
from ep_primitives.reference import Reference, compute_number, widened

__all__ = ["RowFamily"]

# Enough copies that every lane of a wide vector, and a tail, sees every special value.
_COPIES = 64


class RowFamily(ElementwiseFamily):
    """An elementwise family whose signatures, references, accuracies and special values come from rows."""

    rows: ClassVar[Mapping[str, Op]]

    def signatures(self) -> Iterator[Signature]:
        """Yield every row with each of its element types."""
        inputs = len(self.descriptor.operands) - 1
        for row in self.rows.values():
            for dtype in row.dtypes:
                yield Signature(row.name, (dtype,) * inputs, row.out_dtype(dtype))

    def describe(self, signature: Signature, specs: Mapping[str, Any], attributes: tuple[float, ...]) -> Descriptor:
        """Return the descriptor of a row with these operands."""
        names = (attribute.name for attribute in self.rows[signature.op].attributes)
        make: Any = self.descriptor
        descriptor: Descriptor = make(signature.op, **specs, **dict(zip(names, attributes, strict=True)))
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

    def _special(self, name: str, signature: Signature, attributes: tuple[float, ...]) -> Case:
        row = self.rows[signature.op]
        dtype = signature.inputs[0]
        held = tuple(float(compute_number(dtype, value)) for value in attributes)
        rows = row.special_rows(held)
        size = _COPIES * len(rows) + 1
        columns = [np.resize(np.array(column).astype(dtype), size) for column in zip(*(r[0] for r in rows), strict=True)]
        expected = np.resize(np.array([r[1] for r in rows]), size)
        value = expected != 0 if row.out == "bool" else expected
        case = self._listed(name, signature, *columns, attributes=attributes)
        return Case(name, case.descriptor, case.data, expected=lambda: Reference(value), accuracy=Exact())

    def _table(self, signature: Signature) -> Case:
        table = tables.load(signature.op)
        case = self._listed("table", signature, *table.inputs, attributes=table.attributes)
        return Case("table", case.descriptor, case.data, expected=partial(Reference, table.value, table.scale, 0.5))
