"""The cells of Quantize and Dequantize, their cases, and how the suite judges them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import ep
from ep import TensorSpec
from ep_primitives.cases.arrangement import Form
from ep_primitives.cases.case import Case
from ep_primitives.cases.signature import Signature
from ep_primitives.descriptors.window import rows, windowed
from ep_primitives.elementwise.op import FLOATS
from ep_primitives.families.quantization import reference as quantization_reference
from ep_primitives.families.quantization.data import drawn
from ep_primitives.families.quantization.dequantize import DEQUANTIZED, Dequantize
from ep_primitives.families.quantization.descriptor import QUANTIZED, Quantization
from ep_primitives.families.quantization.plans import PLANS
from ep_primitives.families.quantization.quantize import Quantize
from ep_primitives.families.quantization.situations import planned, quantization_model
from ep_primitives.judging.layout import settled
from ep_primitives.judging.origin import broadcast_index
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

    from ep import Cell, Descriptor
    from ep_primitives.families.quantization.plans import Plan
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["DequantizeFamily", "QuantizeFamily"]


class _QuantizationFamily(PlannedFamily):
    """Each pair of a floating element type and one of integers, in each layout."""

    descriptor: ClassVar[Any]
    has_one_kernel: ClassVar[bool] = True
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)

    def since(self, cell: Cell) -> str:  # noqa: ARG002 - the interface is ep.Family's
        """Return the suite version that first held the family."""
        return "1.1"

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of two element types in a layout."""
        for plan in PLANS[layout]():
            if not plan.sizes or ep.dtype(_integers(signature)).itemsize in plan.sizes:
                yield _case(self.descriptor, signature, plan)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return quantization_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return _case(self.descriptor, signature, planned(layout, row, seed))

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the tensors with their element types."""
        return tuple(_typed(signature).items())

    def parts(self, descriptor: Any) -> Iterator[Quantization]:
        """Yield, without blocks, single elements, and all but the first."""
        whole: Quantization = descriptor
        if whole.block is None:
            for window in rows(whole.x.shape, range(whole.x.ndim)):
                cut = {name: windowed(spec, window) for name, spec in whole.present.items()}  # type: ignore[arg-type]  # no Scalar
                yield self.descriptor(**cut)

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the element of x, and the scale and the zero point of its place or its block."""
        del output
        whole: Quantization = descriptor
        place = at
        if whole.axis is not None and whole.block is not None:
            place = (*at[: whole.axis], at[whole.axis] // whole.block, *at[whole.axis + 1 :])
        met = broadcast_index(whole.scale.shape, place)
        return {name: at if name == "x" else met for name in inputs}

    def accuracy(self, descriptor: Any) -> Accuracy:
        """Return the promise."""
        return quantization_reference.accuracy(descriptor)


class QuantizeFamily(_QuantizationFamily):
    """The cells of Quantize."""

    name: ClassVar[str] = "quantize"
    descriptor: ClassVar[type[Descriptor]] = Quantize
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "ties": ("float32->int8", "float16->uint8"),
        "ties-no-zero-point": ("float64->int32",),
        "special": ("float32->int8", "bfloat16->uint8"),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every pair of element types."""
        return (Signature("-", (dtype,), out) for dtype in FLOATS for out in QUANTIZED)

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the definition, exact."""
        return quantization_reference.quantized(descriptor, inputs)


class DequantizeFamily(_QuantizationFamily):
    """The cells of Dequantize."""

    name: ClassVar[str] = "dequantize"
    descriptor: ClassVar[type[Descriptor]] = Dequantize
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "channels": ("int8->float32",),
        "special": ("int8->float32", "uint8->bfloat16"),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every pair of element types."""
        return (Signature("-", (dtype,), out) for dtype in DEQUANTIZED for out in FLOATS)

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the definition in a wider type, with S."""
        return quantization_reference.dequantized(descriptor, inputs)


def _integers(signature: Signature) -> str:
    """Return the element type that is of integers, which zero points have, too."""
    return min((*signature.inputs, signature.out), key=lambda dtype: ep.dtype(dtype).kind == "f")


def _typed(signature: Signature) -> dict[str, str]:
    (given,) = signature.inputs
    integers = _integers(signature)
    floats = given if integers == signature.out else signature.out
    return {"x": given, "scale": floats, "zero_point": integers, "out": signature.out}


def _case(kind: Any, signature: Signature, plan: Plan) -> Case:
    forms = {"x": plan.x, "scale": plan.scale}
    forms |= {"zero_point": plan.forms.get("zero_point", Form(plan.scale.shape))} if plan.has_zero_point else {}
    forms["out"] = plan.forms.get("out", Form(plan.x.shape))
    types = _typed(signature)
    specs = {name: TensorSpec(types[name], *form) for name, form in forms.items()}
    descriptor: Quantization = kind(**specs, axis=plan.axis, block=plan.block)
    return Case(
        plan.name,
        descriptor,
        partial(_data, descriptor, plan.contents),
        profile=plan.profile,
        shift=plan.shift,
        fill="random" if plan.contents == "random" else "designed",
    )


def _data(descriptor: Quantization, contents: str, rng: np.random.Generator) -> dict[str, Any]:
    present: Mapping[str, Any] = descriptor.present
    return {name: settled(present[name], array) for name, array in drawn(descriptor, contents, rng).items()}
