"""The cells of LayerNorm, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ep.dtypes import DTYPES
from ep.layout.cells import dtypes_name

from ep import Cell
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.layer_norm import cases as layer_norm_cases
from ep_primitives.families.layer_norm import reference as layer_norm_reference
from ep_primitives.families.layer_norm.descriptor import LayerNorm
from ep_primitives.families.layer_norm.plans import PLANS
from ep_primitives.families.layer_norm.situations import layer_norm_model
from ep_primitives.judging.origin import row_index
from ep_primitives.situations.family import SituatedFamily

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep import Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["LayerNormFamily"]

_MOST: Final = 3


class LayerNormFamily(SituatedFamily):
    """Each floating element type in each layout; of 16-bit ones y alone, with one of the float32 outputs, and with both."""

    name: ClassVar[str] = "layer_norm"
    descriptor: ClassVar[type[Descriptor]] = LayerNorm
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    convicting = frozenset({"-/float16/dense/no-bias-3x513"})

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type with those of its outputs, joined by commas."""
        for dtype in FLOATS:
            for name in dict.fromkeys(dtypes_name((dtype,), *outputs) for outputs in _outputs(dtype)):
                yield Signature("-", (dtype,), name.partition("->")[2] or dtype)

    def signature(self, cell: Cell) -> Signature:
        """Return the signature of a cell."""
        dtype, _, made = cell.dtypes.partition("->")
        return Signature("-", (dtype,), made or dtype)

    def cells(self) -> Iterator[Cell]:
        """Yield every element type with its outputs in each layout."""
        for signature in self.signatures():
            (dtype,) = signature.inputs
            for layout in self.layouts:
                yield Cell(self.name, "-", dtypes_name((dtype,), *signature.out.split(",")), layout)

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the operands with their element types."""
        (dtype,) = signature.inputs
        wide = {"mean", "rstd"}
        return tuple((name, DTYPES[dtype].compute if name in wide else dtype) for name in self.descriptor.roles.names)

    def has(self, signature: Signature, layout: str) -> bool:  # noqa: ARG002 - the interface is SituatedFamily's
        """Say yes: every signature has every layout."""
        return True

    def kernel(self, signature: Signature) -> Hashable:  # noqa: ARG002 - the interface is SituatedFamily's
        """Return one for all: the element types meet the situations in turn."""
        return None

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return layer_norm_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation: where the element types do not tell the outputs, with all of them."""
        (dtype,), outputs = signature.inputs, signature.out.split(",")
        count = _MOST if DTYPES[dtype].compute == dtype else len(outputs)
        return layer_norm_cases.situated(dtype, count, layout, row, seed)

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of a signature in a layout."""
        (dtype,) = signature.inputs
        by_hand = [*layer_norm_cases.cases(dtype, tuple(signature.out.split(",")), layout)]
        yield from (case for case in by_hand if case.profile == "quick")
        yield from self.constructed(signature, layout)
        yield from (case for case in by_hand if case.profile != "quick")

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
