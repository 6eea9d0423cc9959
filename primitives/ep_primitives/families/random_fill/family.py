"""The cells of RandomFill, and how the suite judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ep import Cell, Descriptor, TensorSpec
from ep_primitives.cases.signature import Signature
from ep_primitives.elementwise.cells import ElementwiseFamily
from ep_primitives.families.random_fill.cases import cases, launch_numbers, state_of
from ep_primitives.families.random_fill.descriptor import RandomFill
from ep_primitives.families.random_fill.philox import draw
from ep_primitives.families.random_fill.rows import RANDOM_OPS, words_each
from ep_primitives.judging.reference import Reference

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ep_primitives.cases.arrangement import Arrangement
    from ep_primitives.cases.case import Case
    from ep_primitives.families.random_fill.rows import RandomOp
    from ep_primitives.judging.accuracy import Accuracy
    from ep_primitives.judging.reference import Array

__all__ = ["RandomFillFamily"]


class RandomFillFamily(ElementwiseFamily):
    """Each row of RANDOM_OPS with each of its element types in each layout."""

    name: ClassVar[str] = "random_fill"
    descriptor: ClassVar[type[Descriptor]] = RandomFill
    tensors: ClassVar[int] = 0
    rows: ClassVar[Mapping[str, RandomOp]] = RANDOM_OPS
    layouts: ClassVar[tuple[str, ...]] = ("dense", "strided", "offset", "empty", "rank0")

    def signatures(self) -> Iterator[Signature]:
        """Yield every row with each of its element types, which alone names the dtypes of a cell."""
        for row in RANDOM_OPS.values():
            for dtype in row.dtypes:
                yield Signature(row.name, (dtype,), dtype)

    def typed(self, signature: Signature) -> tuple[tuple[str, str], ...]:
        """Return the operand that has a layout."""
        return (("out", signature.out),)

    def kernel(self, signature: Signature) -> Hashable:  # noqa: ARG002 - the interface is SituatedFamily's
        """Return that all element types share one kernel in profile quick: nothing is read."""
        return ""

    def describe(self, op: str, specs: Mapping[str, Any], _attributes: tuple[float, ...], /) -> Descriptor:
        """Return the descriptor of a row with this output."""
        return RandomFill(op, out=specs["out"])

    def accuracy(self, descriptor: Descriptor) -> Accuracy:
        """Return the row's accuracy for the element type."""
        return RANDOM_OPS[descriptor.op].accuracy_of(descriptor.out.dtype)

    def since(self, cell: Cell) -> str:
        """Return the suite version that first held the row."""
        return RANDOM_OPS[cell.op].since

    def value_cases(self, signature: Signature) -> Iterator[Case]:
        """Yield the cases about places in a sequence, then the row's."""
        return cases(signature.op, signature.out)

    def reference(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> Reference:
        """Return the elements made of the words that the state names, by NumPy alone."""
        row, out = RANDOM_OPS[descriptor.op], descriptor.out
        numbers = [inputs[name] for name, _ in row.numbers]
        value = row.value(out.dtype, _words(inputs["state"], out), *numbers)
        return Reference(value.reshape(out.shape), error=row.error if out.dtype == "float64" else 0.0)

    def moved(self, descriptor: Descriptor, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state after the launch."""
        seed, offset = map(int, inputs["state"])
        return {"state": state_of(seed, offset + descriptor.out.size * words_each(descriptor.out.dtype))}

    def _arranged(self, signature: Signature, arrangement: Arrangement, attributes: tuple[float, ...]) -> Descriptor:
        del attributes
        form = arrangement.forms[-1]
        assert form is not None
        return RandomFill(signature.op, out=TensorSpec(signature.out, *form))

    def _random(self, signature: Signature, _descriptor: Descriptor, rng: np.random.Generator) -> dict[str, Any]:
        seed, offset = (int(word) for word in rng.integers(0, 2**64, 2, dtype=np.uint64))
        # Places of every magnitude: most programs never get beyond the first words.
        state = state_of(seed, offset >> int(rng.integers(0, 63)))
        return {"state": state, **launch_numbers(signature.op, signature.out, rng)}


def _words(state: Array, out: TensorSpec) -> Array:
    """Return the words of every element of out; two words become one of 64 bits."""
    each = words_each(out.dtype)
    words = draw(int(state[0]), int(state[1]), out.size * each)
    if each == 1:
        return words
    wide = words.astype(np.uint64)
    return wide[0::2] | wide[1::2] << np.uint64(32)
