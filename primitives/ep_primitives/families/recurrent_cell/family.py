"""The families of recurrent cells: their variants, their cases, and how the suite judges them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import ep
from ep import TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.recurrent_cell import reference as recurrent_reference
from ep_primitives.families.recurrent_cell.data import CONTENTS
from ep_primitives.families.recurrent_cell.gru_cell import GruCell
from ep_primitives.families.recurrent_cell.lstm_cell import LstmCell
from ep_primitives.families.recurrent_cell.plans import PLANS
from ep_primitives.families.recurrent_cell.situations import planned, recurrent_model, usual_names
from ep_primitives.judging.accuracy import LISTED, REPRESENTABLE
from ep_primitives.judging.layout import settled
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

    from ep import Cell, Descriptor
    from ep_primitives.families.recurrent_cell.descriptor import RecurrentCell
    from ep_primitives.families.recurrent_cell.plans import Plan
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["GruCellFamily", "LstmCellFamily"]


class _RecurrentFamily(PlannedFamily):
    """Each floating element type in each layout."""

    descriptor: ClassVar[type[RecurrentCell]]
    has_one_kernel: ClassVar[bool] = True
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "rows": ("float32", "bfloat16"),
        "same-sign": ("float32", "bfloat16"),
        "integers": ("float32",),
        "not-finite": ("float32",),
        "saturated": ("float32",),
        "rows-peephole": ("float32",),
        "integers-peephole": ("float32",),
        "not-finite-peephole": ("float32",),
        "saturated-peephole": ("float32",),
        "rows-linear": ("float32",),
        "integers-linear": ("float32",),
        "not-finite-linear": ("float32",),
        "saturated-linear": ("float32",),
        "rows-bias": ("float32",),
        "integers-bias": ("float32",),
        "not-finite-bias": ("float32",),
        "saturated-bias": ("float32",),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every floating element type."""
        return (Signature("-", (dtype,), dtype) for dtype in FLOATS)

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return recurrent_model(self.descriptor, layout)  # type: ignore[arg-type]  # a class is hashable

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return _case(self.descriptor, signature.out, planned(self.descriptor, layout, row, seed))

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the tensors that every case has, with their element types."""
        return tuple((name, signature.out) for name in usual_names(self.descriptor))

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of an element type in a layout."""
        for plan in PLANS[layout](self.descriptor):
            if not plan.dtypes or signature.out in plan.dtypes:
                yield _case(self.descriptor, signature.out, plan)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of h, and for each gate its element of the column, with its weights."""
        del output
        row, column = at
        whole: RecurrentCell = descriptor
        every, each = slice(None), slice(column, None, whole.width)
        found: dict[str, Index] = {"gates": (row, each), "h": (row, every), "c": at, "r": (each, every)}
        found |= {"peephole": (each,), "bias": (each,)}
        return {name: index for name, index in found.items() if name in inputs}

    def accuracy(self, descriptor: Descriptor) -> Accuracy:  # noqa: ARG002 - the extents are in S
        """Return the bound over S, for all outputs."""
        return recurrent_reference.BOUND


class LstmCellFamily(_RecurrentFamily):
    """Each floating element type in each layout, with and without a peephole."""

    name: ClassVar[str] = "lstm_cell"
    descriptor: ClassVar[type[RecurrentCell]] = LstmCell
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> dict[str, Reference]:
        """Return the definition in a wider type, with S."""
        return recurrent_reference.lstm_cell(descriptor, inputs)


class GruCellFamily(_RecurrentFamily):
    """Each floating element type in each layout: the reset before the product, or after it with or without bias."""

    name: ClassVar[str] = "gru_cell"
    descriptor: ClassVar[type[RecurrentCell]] = GruCell
    layouts: ClassVar[tuple[str, ...]] = tuple([layout for layout in PLANS if layout != "inplace"])

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the same as other cells; if the reset precedes the product, also the row's reset and its weights."""
        found = super().origin(descriptor, inputs, output, at)
        if descriptor.linear_before_reset:
            return found
        every = slice(None)
        return {**found, "gates": (at[0], every), "r": (every, every)}

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the definition in a wider type, with S."""
        return recurrent_reference.gru_cell(descriptor, inputs)


def _case(kind: type[RecurrentCell], dtype: str, plan: Plan) -> Case:
    optional = {role.name for role in kind.roles if role.is_optional}
    specs: dict[str, Any] = {
        name: TensorSpec(dtype, *plan.forms.get(name, Form(shape)))
        for name, shape in kind.shapes(plan.count, plan.width).items()
        if plan.has_more or name not in optional
    }
    descriptor = kind(**specs, **plan.words)
    exact = REPRESENTABLE if plan.contents == "integers" else LISTED
    return Case(
        plan.name,
        descriptor,
        partial(_data, descriptor, plan.contents),
        inplace="c" if plan.inplace else None,
        profile=plan.profile,
        shift=plan.shift * ep.dtype(dtype).itemsize,
        accuracy=exact if plan.exact else None,
        fill="exact" if plan.exact else "random" if plan.contents == "random" else "designed",
    )


def _data(descriptor: RecurrentCell, contents: str, rng: np.random.Generator) -> dict[str, Any]:
    found = CONTENTS[contents](rng, descriptor)
    present: Mapping[str, Any] = descriptor.present
    written = descriptor.outputs
    return {name: settled(present[name], array) for name, array in found.items() if name not in written}
