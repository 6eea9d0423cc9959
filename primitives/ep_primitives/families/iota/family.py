"""The cells of Iota, and how the suite judges them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import ep
from ep import Cell, Descriptor
from ep_primitives.cases.signature import Signature
from ep_primitives.elementwise.cells import ElementwiseFamily
from ep_primitives.elementwise.situations.arranged import arranged
from ep_primitives.families.iota.cases import launch_numbers, value_cases
from ep_primitives.families.iota.descriptor import IOTA_DTYPES, Iota
from ep_primitives.judging.accuracy import INTEGRAL, Accuracy, Conditioned
from ep_primitives.judging.reference import Reference, array_dtype, widened
from ep_primitives.situations.model import Dimension, Model

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep_primitives.cases.arrangement import Arrangement, Form
    from ep_primitives.cases.case import Case
    from ep_primitives.situations.family import Row

__all__ = ["IotaFamily"]

_PROGRESSION: Final = Conditioned(
    1.5,
    why="S = |start| + |i step|: i, the product and the sum are rounded to the compute type once each, by half an eps",
)


_AXIS: Final = Dimension("axis", ("last", "first", "middle"))


class IotaFamily(ElementwiseFamily):
    """The cells of Iota: each element type in each layout."""

    name: ClassVar[str] = "iota"
    descriptor: ClassVar[type[Descriptor]] = Iota
    tensors: ClassVar[int] = 0
    layouts: ClassVar[tuple[str, ...]] = ("dense", "strided", "offset", "empty", "rank0")

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type, which alone names the dtypes of a cell."""
        return (Signature("-", (dtype, dtype), dtype) for dtype in IOTA_DTYPES)

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def kernel(self, signature: Signature) -> Hashable:  # noqa: ARG002 - the interface is SituatedFamily's
        """Return that all element types share one kernel in profile quick: nothing is read."""
        return ""

    def describe(self, _op: str, specs: Mapping[str, Any], attributes: tuple[float, ...], /) -> Descriptor:
        """Return the descriptor of an iota of this output."""
        return Iota(**specs, axis=int(attributes[0]) if attributes else -1)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:
        """Return the accuracy that an element type must reach."""
        return INTEGRAL if ep.dtype(descriptor.out.dtype).kind in "iu" else _PROGRESSION

    def is_reproducible(self, descriptor: Descriptor) -> bool:  # noqa: ARG002 - the interface is ep.Family's
        """Say no: how often the progression is rounded, and in which type, is the provider's choice."""
        return False

    def is_constant(self, descriptor: Any) -> bool:
        """Say whether it counts no further than to 0."""
        return bool(descriptor.extent <= 1)

    def value_cases(self, signature: Signature) -> Iterator[Case]:
        """Yield one case a pair of numbers."""
        return value_cases(signature.out)

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield values, then what is constructed, then one an arrangement and axis of it."""
        if layout == "dense":
            yield from self.value_cases(signature)
        yield from self.constructed(signature, layout)
        for arrangement in self._fitting(signature, layout):
            form = arrangement.forms[-1]
            assert form is not None
            rank = len(form.shape)
            yield self._arranged_case(signature, arrangement, max(rank - 1, 0)).late()
            for axis in sorted({0, rank // 2} - {rank - 1}) if rank > 1 else ():
                named = replace(arrangement, name=f"{arrangement.name}-axis-{axis}")
                yield self._arranged_case(signature, named, axis).late()

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout, and the axis along which numbers grow."""
        usual = super().model(layout)
        if usual is None or layout in {"empty", "rank0"}:
            return usual
        return Model((*usual.dimensions, _AXIS), usual.rules)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        arrangement = arranged(layout, self.names, row, seed)
        form = arrangement.forms[-1]
        rank = 1 if form is None else max(len(form.shape), 1)
        axis = {"last": rank - 1, "first": 0, "middle": rank // 2}[row.situation.get("axis", "last")]
        return self._arranged_case(signature, arrangement, axis)

    def tried(self, signature: Signature, arrangement: Arrangement, number: int) -> tuple[float, ...]:  # noqa: ARG002 - the number of a case is its axis
        """Return the axis of a case."""
        return (number,)

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the progression: integers in their own type, floats in the long double where it is wider."""
        assert isinstance(descriptor, Iota)
        out, axis = descriptor.out, descriptor.axis
        start, step = (widened(out.dtype, inputs[name]) for name in ("start", "step"))
        shape = tuple(descriptor.extent if place == axis else 1 for place in range(out.ndim))
        with np.errstate(all="ignore"):
            if ep.dtype(out.dtype).kind in "iu":
                into = array_dtype(out.dtype)
                value = start + np.arange(descriptor.extent, dtype=np.uint64).astype(into) * step
                return Reference(np.broadcast_to(value.astype(into).reshape(shape), out.shape))
            product = np.arange(descriptor.extent, dtype=np.longdouble) * step.astype(np.longdouble)
            first = start.astype(np.longdouble)
            value, scale = (each.astype(np.float64) for each in (first + product, np.abs(first) + np.abs(product)))
        value, scale = (np.broadcast_to(each.reshape(shape), out.shape) for each in (value, scale))
        # Of float64 the reference is no wider than a result, and rounded once, too.
        return Reference(value, scale, error=1.0 if out.dtype == "float64" else 0.0)

    def _forms(self, arrangement: Arrangement) -> tuple[Form | None, ...]:
        return (None, None, *arrangement.forms)

    def _random(self, signature: Signature, descriptor: Descriptor, rng: np.random.Generator) -> dict[str, Any]:
        assert isinstance(descriptor, Iota)
        return launch_numbers(signature.out, descriptor.extent, rng)
