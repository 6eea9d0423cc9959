"""The cells of Convolution, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep_primitives.cases.signature import Signature
from ep_primitives.families.convolution import cases as convolution_cases
from ep_primitives.families.convolution import reference as convolution_reference
from ep_primitives.families.convolution.descriptor import CONVOLUTION_DTYPES, Convolution
from ep_primitives.families.convolution.plans import PLANS
from ep_primitives.families.convolution.situations import convolution_model, planned
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep import Cell, Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["ConvolutionFamily"]


class ConvolutionFamily(PlannedFamily):
    """Each element type of CONVOLUTION_DTYPES in each layout."""

    name: ClassVar[str] = "convolution"
    descriptor: ClassVar[type[Descriptor]] = Convolution
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    has_one_kernel: ClassVar[bool] = True
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "image": ("float32",),
        "pads-before": ("float64",),
        "groups": ("int8->int32",),
        "empty-x": ("float32",),
        "no-channels": ("float32",),
        "integers": ("float32", "float16"),
        "ends": ("int8->int32", "uint8->int32"),
        "one-sign": ("float32", "bfloat16"),
        "not-finite": ("float32", "bfloat16"),
        "not-finite-weights": ("float32",),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every pair of element types."""
        return (Signature("-", (given,), made) for given, made in CONVOLUTION_DTYPES.items())

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of a pair in a layout."""
        return convolution_cases.cases(PLANS[layout](), signature.inputs[0])

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return convolution_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return convolution_cases.planned_case(planned(layout, row, seed), signature.inputs[0])

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the tensors that every case has, with their element types."""
        return (("x", signature.inputs[0]), ("w", signature.inputs[0]), ("y", signature.out))

    def is_constant(self, descriptor: Any) -> bool:
        """Say whether windows see nothing of x, and there is no bias."""
        return not (descriptor.x.size and descriptor.w.size) and descriptor.bias is None

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the window of x in the group's channels, and the weights and the bias of m."""
        del output
        image, m, *place = at
        each = descriptor.w.shape[1]
        first = m // (descriptor.w.shape[0] // descriptor.groups) * each
        touched = descriptor.sliding.touched(tuple(place), descriptor.x.shape[2:])
        weights = (m, *(slice(None),) * (descriptor.w.ndim - 1))
        found: dict[str, Index] = {"x": (image, slice(first, first + each), *touched), "w": weights}
        return found | ({"bias": (m,)} if "bias" in inputs else {})

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the convolution in a wider type, with S."""
        return convolution_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Any) -> Accuracy:
        """Return the bound for the descriptor's number of terms."""
        return convolution_reference.accuracy(descriptor)
