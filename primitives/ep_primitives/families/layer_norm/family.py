"""The cells of LayerNorm, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep.dtypes import DTYPES
from ep.layout.cells import dtypes_name

from ep import Cell, Family
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.layer_norm import cases as layer_norm_cases
from ep_primitives.families.layer_norm import reference as layer_norm_reference
from ep_primitives.families.layer_norm.descriptor import LayerNorm
from ep_primitives.families.layer_norm.plans import PLANS
from ep_primitives.judging.origin import row_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep import Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference

__all__ = ["LayerNormFamily"]

_MOST: Final = 3


class LayerNormFamily(Family):
    """Each floating element type in each layout; of 16-bit ones y alone, with one of the float32 outputs, and with both."""

    name: ClassVar[str] = "layer_norm"
    descriptor: ClassVar[type[Descriptor]] = LayerNorm
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)

    def cells(self) -> Iterator[Cell]:
        """Yield every element type with its outputs in each layout."""
        for dtype in FLOATS:
            names = [dtypes_name((dtype,), *outputs) for outputs in _outputs(dtype)]
            for name in dict.fromkeys(names):
                for layout in self.layouts:
                    yield Cell(self.name, "-", name, layout)

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def sample(self, cell: Cell) -> Descriptor:
        """Return the descriptor of the first case."""
        return next(self.cases(cell)).descriptor

    def cases(self, cell: Cell) -> Iterator[Case]:
        """Yield the cases of the cell."""
        dtype, _, made = cell.dtypes.partition("->")
        return layer_norm_cases.cases(dtype, tuple(made.split(",")) if made else (dtype,), cell.layout)

    def is_constant(self, descriptor: Any) -> dict[str, bool]:
        """Return which outputs are one value for any x: in rows of one element, or of one element repeated."""
        axes = range(descriptor.axis, descriptor.x.ndim)
        is_one = descriptor.terms <= 1
        repeats = is_one or not any(descriptor.x.strides[axis] for axis in axes if descriptor.x.shape[axis] > 1)
        is_plain = "bias" not in descriptor.present
        return {"y": is_one or (repeats and is_plain), "mean": not descriptor.terms, "rstd": repeats}

    def parts(self, descriptor: Any) -> Iterator[LayerNorm]:
        """Yield single rows, and all but the first."""
        whole: LayerNorm = descriptor
        for window in rows(whole.x.shape, range(whole.axis)):
            of = {"x": window, "y": window}
            for name in ("mean", "rstd"):
                if name in whole.outputs:
                    kept = window[: whole.axis]
                    of[name] = kept + ((0, 1),) * (whole.outputs[name].ndim - whole.axis)
            specs: dict[str, Any] = dict(whole.present)
            cut = {name: windowed(specs[name], window) for name, window in of.items()}
            yield LayerNorm(**(specs | cut), axis=whole.axis, epsilon=whole.epsilon)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of x, and of y the elements of scale and bias."""
        gone = range(descriptor.axis, descriptor.x.ndim)
        found = {"x": row_index(descriptor.x.ndim, gone, at)}
        if output == "y":
            found |= {name: at[descriptor.axis :] for name in ("scale", "bias") if name in inputs}
        return found

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> dict[str, Reference]:
        """Return the definition in a wider type, with S."""
        return layer_norm_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Descriptor) -> Accuracy:  # noqa: ARG002 - the extent of a row is in S
        """Return the bound over S, for all outputs."""
        return layer_norm_reference.BOUND


def _outputs(dtype: str) -> Iterator[tuple[str, ...]]:
    """Yield the element types of all three outputs, of two and of y alone."""
    for count in reversed(range(_MOST)):
        yield (dtype, *(DTYPES[dtype].compute,) * count)
