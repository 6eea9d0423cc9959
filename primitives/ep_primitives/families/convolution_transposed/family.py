"""The cells of ConvolutionTransposed, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep_primitives.cases.signature import Signature
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.convolution import cases as convolution_cases
from ep_primitives.families.convolution import reference as convolution_reference
from ep_primitives.families.convolution_transposed import reference as convolution_transposed_reference
from ep_primitives.families.convolution_transposed.descriptor import ConvolutionTransposed
from ep_primitives.families.convolution_transposed.plans import PLANS
from ep_primitives.families.convolution_transposed.situations import planned, transposed_model
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

__all__ = ["ConvolutionTransposedFamily"]


class ConvolutionTransposedFamily(PlannedFamily):
    """Each floating element type in each layout."""

    name: ClassVar[str] = "convolution_transposed"
    descriptor: ClassVar[type[Descriptor]] = ConvolutionTransposed
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    has_one_kernel: ClassVar[bool] = True
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "image": ("float32",),
        "extra": ("float64",),
        "gaps-that-nothing-gives-to": ("float32",),
        "no-channels": ("float32",),
        "integers": ("float32", "float16"),
        "one-sign": ("float32", "bfloat16"),
        "not-finite": ("float32", "bfloat16"),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every element type."""
        return (Signature("-", (dtype,), dtype) for dtype in FLOATS)

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of an element type in a layout."""
        return convolution_cases.cases(PLANS[layout](), signature.out)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return transposed_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return convolution_cases.planned_case(planned(layout, row, seed), signature.out)

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the tensors that every case has, with their element types."""
        return (("x", signature.inputs[0]), ("w", signature.inputs[0]), ("y", signature.out))

    def is_constant(self, descriptor: Any) -> bool:
        """Say whether there are no channels, and no bias."""
        return not descriptor.x.size and descriptor.bias is None

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the elements of x between the first and the last that give to it, in the group's channels, and their weights."""
        del output
        image, m, *place = at
        sliding, made, each = descriptor.sliding, descriptor.w.shape[1], descriptor.x.shape[1] // descriptor.groups
        channels = slice(m // made * each, (m // made + 1) * each)
        givers = []
        sides = zip(place, sliding.before, sliding.spans, sliding.strides, descriptor.x.shape[2:], strict=True)
        for o, before, span, stride, extent in sides:
            first = max(-(-(o + before - span + 1) // stride), 0)
            givers.append(slice(first, max(min((o + before) // stride + 1, extent), first)))
        weights = (channels, m % made, *(slice(None),) * len(place))
        found: dict[str, Index] = {"x": (image, channels, *givers), "w": weights}
        return found | ({"bias": (m,)} if "bias" in inputs else {})

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the result in a wider type, with S."""
        return convolution_transposed_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Any) -> Accuracy:
        """Return the bound for the descriptor's number of terms."""
        return convolution_reference.accuracy(descriptor)
