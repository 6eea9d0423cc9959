"""The cells of Matmul, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ep_primitives.cases.signature import Signature, SignatureFamily
from ep_primitives.families.matmul import cases as matmul_cases
from ep_primitives.families.matmul import reference as matmul_reference
from ep_primitives.families.matmul.descriptor import MATMUL_DTYPES, Matmul
from ep_primitives.families.matmul.plans import PLANS
from ep_primitives.judging.origin import broadcast_index, summed_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ep import Descriptor
    from ep_primitives.cases.case import Case
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.origin import Index
    from ep_primitives.judging.reference import Reference

__all__ = ["MatmulFamily"]


class MatmulFamily(SignatureFamily):
    """Each pair of element types of MATMUL_DTYPES in each layout."""

    name: ClassVar[str] = "matmul"
    descriptor: ClassVar[type[Descriptor]] = Matmul
    layouts: ClassVar[tuple[str, ...]] = tuple(PLANS)

    def signatures(self) -> Iterator[Signature]:
        """Yield every pair."""
        for given, outs in MATMUL_DTYPES.items():
            for made in outs:
                yield Signature("-", (given,), made)

    def cases_of(self, signature: Signature, layout: str) -> Iterator[Case]:
        """Yield the cases of a pair in a layout."""
        return matmul_cases.cases(signature.inputs[0], signature.out, layout)

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
