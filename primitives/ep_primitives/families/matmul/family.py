"""The cells of Matmul, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import ep
from ep_primitives.cases.signature import Signature
from ep_primitives.families.matmul import cases as matmul_cases
from ep_primitives.families.matmul import reference as matmul_reference
from ep_primitives.families.matmul.descriptor import MATMUL_DTYPES, Matmul
from ep_primitives.families.matmul.plans import PLANS
from ep_primitives.families.matmul.situations import matmul_model, planned
from ep_primitives.judging.origin import broadcast_index, summed_index
from ep_primitives.situations.planned import PlannedFamily

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from ep import Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference
    from ep_primitives.situations.family import Row
    from ep_primitives.situations.model import Model

__all__ = ["MatmulFamily"]


class MatmulFamily(PlannedFamily):
    """Each pair of element types of MATMUL_DTYPES in each layout."""

    name: ClassVar[str] = "matmul"
    descriptor: ClassVar[type[Descriptor]] = Matmul
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)
    early: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "64x64x64": ("float32", "uint8->int32"),
        "17x300x19": ("float16",),
        "integers": ("float16", "float32", "complex64"),
        "cancelling": ("float32", "bfloat16"),
        "ends": ("int8->int32", "uint8->int32"),
        "one-sign": ("float32", "float16"),
        "nan-and-infinity": ("float32", "bfloat16"),
        "alpha-0": ("float32", "complex64"),
        "alpha": ("float32",),
        "beta-0-reads-nothing": ("float32", "complex128"),
        "beta-1": ("float32",),
        "alpha-beta": ("float16",),
        "depth-0": ("float32",),
        "depth-0-beta-bias": ("float32",),
        "bias-whole-alpha-beta": ("float32",),
        "relu": ("float32", "int8->int32"),
        "conjugate-a": ("complex64",),
        "conjugate-b": ("complex64",),
        "conjugate-ab": ("complex128",),
        "conjugate-transposed-a": ("complex128",),
        "conjugate-transposed-b": ("complex64",),
        "outer": ("float64",),
        "sum-of-none": ("float32",),
        "sum-to-a-matrix": ("float32",),
    }

    def signatures(self) -> Iterator[Signature]:
        """Yield every pair."""
        for given, outs in MATMUL_DTYPES.items():
            for made in outs:
                yield Signature("-", (given,), made)

    def by_hand(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases by hand of a pair in a layout."""
        return matmul_cases.cases(signature.inputs[0], signature.out, layout)

    def model(self, layout: str) -> Model | None:
        """Return the situations of a layout."""
        return matmul_model(layout)

    def situated(self, signature: Signature, layout: str, row: Row, seed: int) -> Case:
        """Return the case of a situation."""
        return matmul_cases.planned_case(planned(layout, row, seed), signature.inputs[0], signature.out)

    def kernel(self, signature: Signature) -> Hashable:
        """Return whether its numbers are real floats, which activations are for."""
        return ep.dtype(signature.out).kind == "f"

    def lacks(self, signature: Signature, layout: str) -> Mapping[str, Sequence[str]]:
        """Return that other numbers have no activation."""
        model = matmul_model(layout)
        return (
            {}
            if self.kernel(signature)
            else {each.name: each.values[1:] for each in model.dimensions if each.name == "activation"}
        )

    def named(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the tensors that every case has, with their element types."""
        return (("a", signature.inputs[0]), ("b", signature.inputs[0]), ("out", signature.out))

    def origin(
        self, descriptor: Any, inputs: Mapping[str, Any], output: str, at: tuple[int, ...]
    ) -> Mapping[str, Index]:
        """Return the row of a and the column of b, of all batches that are summed, and the elements added to them."""
        del output
        *batch, row, column = at
        whole = slice(None)
        found = {
            "a": (*summed_index(descriptor.a.shape[:-2], tuple(batch), descriptor.out.shape[:-2]), row, whole),
            "b": (*summed_index(descriptor.b.shape[:-2], tuple(batch), descriptor.out.shape[:-2]), whole, column),
        }
        bias = descriptor.bias
        if bias is not None:
            found["bias"] = broadcast_index(bias.shape, at)
        return found | ({"out": at} if "out" in inputs else {})

    def reference(self, descriptor: Any, inputs: dict[str, Any]) -> Reference:
        """Return the product in a wider type, with S."""
        return matmul_reference.reference(descriptor, inputs)

    def accuracy(self, descriptor: Any) -> Accuracy:
        """Return the bound for the descriptor's number of terms."""
        return matmul_reference.accuracy(descriptor)
